// ReplayRecorder: watches a fit and makes a Replay of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/dataset.hpp>

#include "experiment/trial/principal_axes.hpp"
#include "experiment/trial/trace.hpp"

namespace lloyd::experiment {

/// Whether a replay of such a fit can be drawn: at least 2 features and at most 512 clusters.
bool can_replay(std::int64_t features, std::int64_t clusters);

/// What the axes of a replay show: two components, or the two features by their names where they
/// have any.
std::array<std::string, 2> replay_axes(const Dataset& dataset);

/// Leaves out the names of the axes, which a process that only fits does not have.
class ReplayRecorder {
 public:
  /// Draws the samples to show. `dataset` is in memory; `initial_centroids` are k x d.
  ReplayRecorder(const Dataset& dataset, const std::vector<double>& initial_centroids);

  /// The assignment of an iteration (n labels) and the centroids after its update (k x d).
  void add(const std::int32_t* labels, const double* centroids);
  /// The replay, with the centroids (k x d) and labels (n) that the fit returned as its last frame.
  Replay finish(const std::vector<double>& centroids, const std::vector<std::int32_t>& labels);

 private:
  using Points = std::vector<std::array<double, 2>>;

  Points project(const double* rows, std::size_t count) const;
  void add_frame(const std::int32_t* labels);

  std::size_t features_;
  std::size_t clusters_;
  std::size_t most_frames_;  ///< before the last one
  Replay replay_;
  std::optional<PrincipalAxes> axes_;  ///< none: the two features
  std::vector<std::int64_t> rows_;     ///< of the samples that are shown
  Points points_;
  Points current_;  ///< centroids after `iteration_` iterations
  std::int64_t iteration_ = 0;
  std::vector<Points> frames_;
  std::vector<int> last_labels_;  ///< of the last frame
};

}  // namespace lloyd::experiment
