// Isolation: the process in which trials run, and their resource limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/yaml/config_values.hpp"

namespace lloyd::experiment {

/// The process in which trials run.
enum class IsolateMode {
  worker,  ///< one process for each backend and parameter set
  trial,   ///< a new process for each trial
  none     ///< this process
};
std::string_view to_string(IsolateMode mode);
/// Throws InputError for an unknown name; the message lists the known ones.
IsolateMode parse_isolate_mode(std::string_view name);

struct Isolation {
  IsolateMode mode = IsolateMode::worker;
  // Limits of each trial; they require a mode other than `none`.
  std::optional<double> timeout;             ///< seconds, > 0
  std::optional<std::int64_t> memory_limit;  ///< bytes of host memory, > 0
  std::vector<int> cpus;                     ///< processors to run on, ascending; empty: all
  Place cpus_place;
};

/// The keys of a configuration that read_isolation() reads.
const std::vector<std::string>& isolation_keys();
/// Throws InputError for a wrong value, and for a limit that the mode cannot enforce.
Isolation read_isolation(const MapReader& map);

/// Throws InputError, at the place of `cpus`, for a processor that is not in `allowed`.
void check_processors(const Isolation& isolation, const std::vector<int>& allowed);

/// Formats ascending processor numbers as "0-3,8".
std::string format_processors(const std::vector<int>& cpus);
/// Inverse of format_processors(); accepts any order. Returns an empty list if the text is
/// malformed.
std::vector<int> parse_processors(std::string_view text);

}  // namespace lloyd::experiment
