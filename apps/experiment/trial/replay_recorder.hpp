// ReplayRecorder: builds a Replay while a fit runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/dataset.hpp>

#include "chart/principal_axes.hpp"
#include "experiment/trial/trace.hpp"

namespace lloyd::experiment {

/// True if a replay can be drawn: at least 2 features and at most 512 clusters.
bool can_replay(std::int64_t features, std::int64_t clusters);

/// The axis names of a replay: the two components, or the two features by name if they have names.
std::array<std::string, 2> replay_axes(const Dataset& dataset);

/// Records all of a replay but the axis names, which are unknown to a worker process.
class ReplayRecorder {
 public:
  /// Selects the samples to show. `dataset` must be in memory; `initial_centroids` are k x d.
  ReplayRecorder(const Dataset& dataset, const std::vector<double>& initial_centroids);

  /// Adds one iteration: the n labels of its assignment, and the k x d centroids after its update.
  void add(const std::int32_t* labels, const double* centroids);
  /// Returns the replay; its last frame shows the k x d centroids and n labels of the finished fit.
  Replay finish(const std::vector<double>& centroids, const std::vector<std::int32_t>& labels);

 private:
  using Points = std::vector<std::array<double, 2>>;

  Points project(const double* rows, std::size_t count) const;
  void add_frame(const std::int32_t* labels);

  std::size_t features_;
  std::size_t clusters_;
  std::size_t most_frames_;  ///< maximum number of frames before the last one
  Replay replay_;
  std::optional<apps::PrincipalAxes> axes_;  ///< none: the two features are the axes
  std::vector<std::int64_t> rows_;           ///< row numbers of the samples shown
  Points points_;
  Points current_;  ///< centroids after `iteration_` iterations
  std::int64_t iteration_ = 0;
  std::vector<Points> frames_;
  std::vector<int> last_labels_;  ///< labels of the last frame
};

}  // namespace lloyd::experiment
