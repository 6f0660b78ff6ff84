// Machine: where a trial ran, and with which build; what stays the same for a whole run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "json/json_fields.hpp"
#include "machine/processors/caches.hpp"
#include "machine/system/system.hpp"

namespace lloyd::experiment {

struct Machine {
  std::string cpu{};              ///< model name; empty where the system does not say
  std::int64_t cores = 0;         ///< logical processors that this process may use
  std::int64_t memory_bytes = 0;  ///< what this process may use; 0: not known
  std::string os{};
  std::string compiler{};  ///< that built this program
  std::string lloyd{};     ///< version of this program

  // What follows is not known of records of earlier versions.
  std::int64_t physical_cores = 0;  ///< 0: not known, as are the next two
  std::int64_t sockets = 0;
  double cpu_quota = 0;    ///< processors' worth of time that the control group allows; 0: no limit
  std::string governor{};  ///< of clocks; empty where the system does not say
  std::optional<bool> boost{};                     ///< likewise none
  std::vector<machine::Cache> caches{};            ///< likewise empty
  std::string build_type{};                        ///< "Release"
  std::string flags{};                             ///< of the compiler, that change code
  std::string commit{};                            ///< machine::Build::commit
  machine::NamedTexts libraries{};                 ///< machine::Build::libraries
  std::optional<machine::NamedTexts> variables{};  ///< of the environment: machine::set_variables()
};

/// Asks the system, once for a run: on large machines it takes some milliseconds.
Machine this_machine();

nlohmann::ordered_json to_json(const Machine& machine);
/// Throws InputError as JsonFields does.
Machine machine_from_json(const JsonFields& json);

}  // namespace lloyd::experiment
