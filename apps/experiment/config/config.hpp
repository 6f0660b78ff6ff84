// Experiment: what a YAML file asks for, checked as far as that is possible without backends.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiment/config/backend_requests.hpp"
#include "experiment/config/isolation.hpp"
#include "experiment/config/reference.hpp"
#include "experiment/config/setting.hpp"
#include "experiment/config/until.hpp"
#include "experiment/yaml/config_node.hpp"

namespace lloyd::experiment {

inline constexpr std::int64_t kMaximumRepeats = 100'000;

struct Experiment {
  std::string name;
  std::vector<Setting> settings;  ///< the product of the sweep
  std::vector<BackendRequest> backends;
  std::optional<BackendRequest> baseline;  ///< with one value per parameter
  std::vector<Reference> references;       ///< what is published
  std::int64_t repeats = 5;
  std::optional<Until> until;    ///< `repeats` is the least number then
  std::uint64_t order_seed = 0;  ///< of the order of trials
  Isolation isolation;           ///< of the trials
  bool trace = false;            ///< watch one more fit of each setting and variant
  std::filesystem::path output;  ///< default: results/<name>; relative to the working directory
};

/// Reads a configuration file. Throws InputError, one sentence with file, line and column, at
/// unknown keys, wrong types and values out of range. `overrides` are texts "KEY=VALUE", see
/// overrides.hpp.
Experiment load_experiment(const std::filesystem::path& file,
                           const std::vector<std::string>& overrides = {});
/// The same from a parsed document. `folder` is where relative data files are, `fallback_name` the
/// name of an experiment that has none.
Experiment read_experiment(ConfigNode document, const std::filesystem::path& folder,
                           const std::string& fallback_name,
                           const std::vector<std::string>& overrides = {});
/// Throws InputError where a part of the path is longer than the name of a folder can be.
void check_folder_names(const std::filesystem::path& folder);

}  // namespace lloyd::experiment
