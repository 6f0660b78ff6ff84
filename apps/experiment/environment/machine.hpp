// Machine: hardware, system and build of a run; constant for the whole run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <lloyd/internal/json_fields.hpp>

#include "machine/processors/caches.hpp"
#include "machine/system/system.hpp"

namespace lloyd::experiment {

struct Machine {
  std::string cpu{};              ///< model name; empty: unknown
  std::int64_t cores = 0;         ///< logical processors that this process may use
  std::int64_t memory_bytes = 0;  ///< bytes that this process may use; 0: unknown
  std::string os{};
  std::string compiler{};  ///< compiler of this program
  std::string lloyd{};     ///< version of this program

  // Records of earlier versions lack the following members.
  std::int64_t physical_cores = 0;  ///< 0: unknown; also for `sockets`
  std::int64_t sockets = 0;
  double cpu_quota = 0;                  ///< limit of the control group, in processors; 0: no limit
  std::string governor{};                ///< CPU frequency governor; empty: unknown
  std::optional<bool> boost{};           ///< none: unknown
  std::vector<machine::Cache> caches{};  ///< empty: unknown
  std::string build_type{};              ///< "Release"
  std::string flags{};                   ///< compiler flags that affect code generation
  std::string commit{};                  ///< machine::Build::commit
  machine::NamedTexts libraries{};       ///< machine::Build::libraries
  /// Environment variables: machine::set_variables().
  std::optional<machine::NamedTexts> variables{};
};

/// Queries the system; call once per run, since this takes some milliseconds on large machines.
Machine this_machine();

nlohmann::ordered_json to_json(const Machine& machine);
/// Throws InputError as JsonFields does.
Machine machine_from_json(const JsonFields& json);

}  // namespace lloyd::experiment
