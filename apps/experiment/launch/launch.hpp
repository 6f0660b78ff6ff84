// Launch: how trials on several ranks are started.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiment/yaml/config_values.hpp"

namespace lloyd::experiment {

/// Maximum number of ranks of a trial.
inline constexpr std::int64_t kMaxRanks = 100'000;

struct Launch {
  /// Numbers of ranks with which each backend is run; empty: in one process, without a launcher.
  std::vector<std::int64_t> ranks;
  /// Command that starts the processes of a trial: words divided by blanks. "{ranks}" stands for
  /// their number. The command line of a rank is appended.
  std::string launcher = "mpirun -n {ranks}";
};

/// The keys of a document that define a Launch.
const std::vector<std::string>& launch_keys();
/// Throws InputError for wrong values, and for a launcher without "{ranks}" or without ranks.
Launch read_launch(const MapReader& map);

/// The words of the launcher for this number of ranks.
std::vector<std::string> launcher_words(const Launch& launch, std::int64_t ranks);
/// The program of the launcher, searched for in PATH unless it has a slash; empty if there is no
/// such program.
std::filesystem::path find_launcher(const Launch& launch);

}  // namespace lloyd::experiment
