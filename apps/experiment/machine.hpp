// Machine: where a trial ran.
#pragma once

#include <cstdint>
#include <string>

namespace lloyd::experiment {

struct Machine {
  std::string cpu;                ///< model name; empty where the system does not say
  std::int64_t cores = 0;         ///< logical processors that this process may use
  std::int64_t memory_bytes = 0;  ///< what this process may use; 0: not known
  std::string os;
  std::string compiler;  ///< that built this program
  std::string lloyd;     ///< version of this program
};

/// Asks the system.
Machine this_machine();

}  // namespace lloyd::experiment
