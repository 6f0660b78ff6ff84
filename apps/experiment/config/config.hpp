// Experiment: the contents of a YAML file, validated as far as possible without loading backends.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiment/config/backend_requests.hpp"
#include "experiment/config/checks.hpp"
#include "experiment/config/isolation.hpp"
#include "experiment/config/overrides.hpp"
#include "experiment/config/reference.hpp"
#include "experiment/config/setting.hpp"
#include "experiment/config/until.hpp"
#include "experiment/launch/launch.hpp"
#include "experiment/yaml/config_node.hpp"

namespace lloyd::experiment {

/// Maximum number of rounds of a setting, further rounds included.
inline constexpr std::int64_t kMaxRepeats = 100'000;

struct Experiment {
  std::string name;
  std::vector<Setting> settings;  ///< the product of the sweep
  std::vector<BackendRequest> backends;
  std::optional<BackendRequest> baseline;  ///< each parameter has one value
  std::vector<Reference> references;       ///< published values to compare with
  std::int64_t repeats = 5;
  std::optional<Until> until;    ///< if set, `repeats` is the minimum number of rounds
  std::uint64_t order_seed = 0;  ///< seed of the random order of trials
  Checks checks;                 ///< how many labels are checked
  bool silhouette = false;       ///< compute the simplified silhouette of each checked result
  bool counters = false;         ///< read the processor's counters in each timed fit
  Launch launch;                 ///< on how many ranks trials run
  Isolation isolation;           ///< how trials are separated from this process and limited
  bool repeat_throttled = true;  ///< run trials again in which the GPU was throttled
  bool trace = false;  ///< run one more, untimed fit of each setting and variant to record a trace
  std::filesystem::path output;  ///< default: results/<name>; relative to the working directory
};

/// Reads a configuration file. Throws InputError, one sentence with file, line and column, for
/// unknown keys, wrong types and values out of range. `output` replaces the file's unless it is
/// empty.
Experiment load_experiment(const std::filesystem::path& file, const Overrides& overrides = {},
                           const std::filesystem::path& output = {});
/// The same from a parsed document. Relative data files are resolved against `folder`;
/// `fallback_name` names an experiment without a name.
Experiment read_experiment(ConfigNode document, const std::filesystem::path& folder,
                           const std::string& fallback_name, const Overrides& overrides = {},
                           const std::filesystem::path& output = {});

}  // namespace lloyd::experiment
