// Cpu: the processor, its cores, and how many of them this process may use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/system/system_files.hpp"

namespace lloyd::machine {

/// Processors of one kind, where a machine has several.
struct CoreKind {
  std::string name;  ///< "performance", "efficiency", "capacity 446"
  std::int64_t processors = 0;
};

struct Cpu {
  std::string model;  ///< empty where the system does not say
  /// Those of the instruction sets that matter to k-means which are there: "AVX2", "NEON".
  std::vector<std::string> features;
  std::int64_t logical = 0;     ///< processors that are online
  std::int64_t physical = 0;    ///< cores; 0: not known
  std::int64_t sockets = 0;     ///< processor packages; 0: not known
  std::vector<CoreKind> kinds;  ///< empty where all are alike
  std::string governor;         ///< of the clock frequency, "a, b" where they differ; may be empty
  std::optional<bool> boost;    ///< whether clocks may go beyond the nominal one
};

Cpu read_cpu(const SystemFiles& files = SystemFiles());
std::string read_cpu_model(const SystemFiles& files = SystemFiles());

/// Those of the processors that are of the fastest kind among them; all, where they are alike.
std::vector<int> fastest_processors(const std::vector<int>& processors,
                                    const SystemFiles& files = SystemFiles());

/// The processors that share a core with this one, itself among them.
std::vector<int> processors_of_core(int processor, const SystemFiles& files = SystemFiles());

/// The highest clock, in MHz, that any of these processors has now: that of one which works, unless
/// all are idle; 0 where the system does not say. Looks at 64 of them at most, as each costs about
/// ten microseconds.
double highest_clock_mhz(const std::vector<int>& processors,
                         const SystemFiles& files = SystemFiles());

}  // namespace lloyd::machine
