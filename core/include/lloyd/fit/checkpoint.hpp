// Checkpoints: a folder that holds the state of an unfinished fit, from which it can be resumed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lloyd {

/// The point at which a fit is resumed.
struct ResumePoint {
  std::int64_t restart = 0;     ///< index of the restart, from 0
  std::int64_t iterations = 0;  ///< finished iterations of this restart
};

/// The checkpoints of a fit. The file checkpoint.json in the folder describes the fit and its
/// state, and names the .npy files with the centroids. It is replaced atomically after all that it
/// names has reached the disk, so once the first checkpoint is written, the folder holds a
/// complete one at any time.
///
/// A checkpoint has the centroids before the last finished iteration: only a fit that repeats this
/// iteration knows which labels the next one changes. The resumed fit has the centroids, labels,
/// counts, inertia, iterations and stop reason of the uninterrupted one, bit for bit, if the
/// backend's results are reproducible and a label depends only on sample and centroids. That holds
/// for all backends with Reproducibility::canonical, one of which may continue the fit of another;
/// other backends and their parameters must stay the same. The number of ranks, and whether the
/// data set is read in blocks, may change.
struct CheckpointOptions {
  std::filesystem::path folder{};  ///< an existing folder; empty: no checkpoints
  /// Number of iterations between two checkpoints (>= 1); 0: by time. Checkpoints are written
  /// between iterations.
  std::int64_t every_iterations = 0;
  /// Minimum time between two checkpoints, seconds (> 0). Leave the default if every_iterations is
  /// set.
  double every_seconds = 60;
  /// Resume from the folder's checkpoint. A fit begins anew if there is none.
  bool resume = false;
  /// Further conditions that the resumed fit must share, by name, for example how the samples were
  /// prepared.
  std::map<std::string, std::string> conditions{};
  /// Called at most once per fit, when a checkpoint cannot be written, with one sentence that the
  /// result has as Fit::checkpoint_error. The fit continues, and later checkpoints are tried.
  std::function<void(const std::string& text)> on_warning{};
  /// Called before a resumed fit continues, on the calling thread of each rank.
  std::function<void(const ResumePoint& point)> on_resume{};
};

/// True if the folder has a file checkpoint.json.
bool has_checkpoint(const std::filesystem::path& folder);
/// The files that a checkpoint in this folder may consist of, whether they exist or not.
std::vector<std::filesystem::path> checkpoint_files(const std::filesystem::path& folder);
/// Removes the files of a checkpoint, if any, but not the folder. Throws Error if a file cannot be
/// removed.
void remove_checkpoint(const std::filesystem::path& folder);

}  // namespace lloyd
