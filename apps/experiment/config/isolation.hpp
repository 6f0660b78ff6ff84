// Isolation: in what process trials run, and what each may take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/yaml/config_values.hpp"

namespace lloyd::experiment {

/// Where trials run.
enum class IsolateMode {
  worker,  ///< one process for each backend and parameter set
  trial,   ///< a new process for each trial
  none     ///< this process
};
std::string_view to_string(IsolateMode mode);
/// Throws InputError for an unknown name, with the known ones.
IsolateMode parse_isolate_mode(std::string_view name);

struct Isolation {
  IsolateMode mode = IsolateMode::worker;
  // Of each trial; only where it has a process to itself.
  std::optional<double> timeout;             ///< seconds, > 0
  std::optional<std::int64_t> memory_limit;  ///< bytes of host memory, > 0
  std::vector<int> cpus;                     ///< processors to run on, ascending; empty: all
  Place cpus_place;
};

/// The keys of a configuration that read_isolation() reads.
const std::vector<std::string>& isolation_keys();
/// Throws InputError at a wrong value, and at a limit that nothing would hold a trial to.
Isolation read_isolation(const MapReader& map);

/// Throws InputError at `cpus` for a processor that is not among the `allowed` ones.
void check_processors(const Isolation& isolation, const std::vector<int>& allowed);

/// "0-3,8": ascending processor numbers.
std::string format_processors(const std::vector<int>& cpus);
/// Reads what format_processors() writes, in any order; empty where the text is no such list.
std::vector<int> parse_processors(std::string_view text);

}  // namespace lloyd::experiment
