#include "experiment/trial/replay_recorder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <lloyd/random.hpp>

namespace lloyd::experiment {
namespace {

constexpr std::int64_t kMaxClusters = 512;
constexpr std::size_t kMaxFrames = 30;
constexpr std::size_t kMaxCentroids = 8000;  // over all frames

// Draws distinct row numbers, ascending; the same in every run.
std::vector<std::int64_t> draw_rows(std::int64_t samples) {
  std::set<std::int64_t> rows;
  const RandomStream random(0, 0);
  const bool all = samples <= kReplaySamples;
  for (std::uint64_t i = 0; std::ssize(rows) < std::min(samples, kReplaySamples); ++i) {
    rows.insert(
        static_cast<std::int64_t>(all ? i : random.below(static_cast<std::uint64_t>(samples), i)));
  }
  return {rows.begin(), rows.end()};
}

}  // namespace

bool can_replay(std::int64_t features, std::int64_t clusters) {
  return features >= 2 && clusters <= kMaxClusters;
}

std::array<std::string, 2> replay_axes(const Dataset& dataset) {
  if (dataset.features() > 2) return {"component 1", "component 2"};
  if (dataset.feature_names.size() != 2) return {"feature 0", "feature 1"};
  return {dataset.feature_names[0], dataset.feature_names[1]};
}

ReplayRecorder::ReplayRecorder(const Dataset& dataset, const std::vector<double>& initial_centroids)
    : features_(static_cast<std::size_t>(dataset.features())),
      clusters_(initial_centroids.size() / features_),
      most_frames_(std::min(kMaxFrames, kMaxCentroids / clusters_)),
      rows_(draw_rows(dataset.samples())) {
  std::vector<double> samples;
  for (const std::int64_t row : rows_) {
    const std::vector<double> sample = dataset.sample(row);
    samples.insert(samples.end(), sample.begin(), sample.end());
  }
  replay_.components = features_ > 2;
  if (replay_.components) {
    axes_ = apps::principal_axes(samples, features_);
    replay_.share = axes_->share;
  }
  points_ = project(samples.data(), rows_.size());
  current_ = project(initial_centroids.data(), clusters_);
}

ReplayRecorder::Points ReplayRecorder::project(const double* rows, std::size_t count) const {
  Points points;
  for (std::size_t i = 0; i < count; ++i) {
    const double* row = rows + i * features_;
    points.push_back(axes_ ? axes_->project(row) : std::array<double, 2>{row[0], row[1]});
  }
  return points;
}

void ReplayRecorder::add_frame(const std::int32_t* labels) {
  std::vector<int> now;
  for (const std::int64_t row : rows_) now.push_back(labels[row]);
  std::vector<int> changes;
  for (std::size_t i = 0; i < now.size() && !frames_.empty(); ++i) {
    if (now[i] == last_labels_[i]) continue;
    changes.push_back(static_cast<int>(i));
    changes.push_back(now[i]);
  }
  replay_.labels.push_back(frames_.empty() ? now : changes);
  replay_.iterations.push_back(iteration_);
  frames_.push_back(current_);
  last_labels_ = std::move(now);
}

void ReplayRecorder::add(const std::int32_t* labels, const double* centroids) {
  if (frames_.size() < most_frames_) add_frame(labels);
  current_ = project(centroids, clusters_);
  ++iteration_;
}

Replay ReplayRecorder::finish(const std::vector<double>& centroids,
                              const std::vector<std::int32_t>& labels) {
  current_ = project(centroids.data(), clusters_);
  add_frame(labels.data());
  for (std::size_t a = 0; a < 2; ++a) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    const auto widen = [&](const Points& points) {
      for (const std::array<double, 2>& point : points) {
        low = std::min(low, point[a]);
        high = std::max(high, point[a]);
      }
    };
    widen(points_);
    for (const Points& frame : frames_) widen(frame);
    replay_.low[a] = low;
    replay_.high[a] = high;
  }
  const auto on_grid = [&](const Points& points) {
    std::vector<int> result;
    for (const std::array<double, 2>& point : points) {
      for (std::size_t a = 0; a < 2; ++a) {
        // In halves, since the extent of the largest values overflows.
        const double extent = replay_.high[a] / 2 - replay_.low[a] / 2;
        const double place = extent > 0 ? (point[a] / 2 - replay_.low[a] / 2) / extent : 0.5;
        result.push_back(static_cast<int>(std::lround(place * kReplayGrid)));
      }
    }
    return result;
  };
  replay_.points = on_grid(points_);
  for (const Points& frame : frames_) replay_.centroids.push_back(on_grid(frame));
  return std::move(replay_);
}

}  // namespace lloyd::experiment
