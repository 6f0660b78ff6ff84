// Trace: the progress of one fit by iteration, measured apart from the timed trials.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace lloyd::experiment {

/// Replay coordinates are integers from 0 to this, scaled to the extent of the points shown.
inline constexpr int kReplayGrid = 9999;
/// Maximum number of samples in a replay; larger data sets are sampled with a fixed seed.
inline constexpr std::int64_t kReplaySamples = 1200;

/// Selected samples and all centroids in two dimensions, for selected iterations of a fit.
struct Replay {
  bool components = false;  ///< axes are the first two principal components; else the two features
  std::array<std::string, 2> axes;
  std::array<double, 2> low{};           ///< values at 0 of the grid
  std::array<double, 2> high{};          ///< values at kReplayGrid
  std::array<double, 2> share{};         ///< share of the variance along each axis; 0 for features
  std::vector<int> points;               ///< m x 2, on the grid
  std::vector<std::int64_t> iterations;  ///< iteration of each frame, ascending from 0
  /// of each frame: k x 2, after `iterations[frame]` iterations
  std::vector<std::vector<int>> centroids;
  /// First frame: m labels, for its centroids. Later frames: the changes since the previous frame,
  /// as pairs of point and label.
  std::vector<std::vector<int>> labels;
};

/// `elapsed_ms[i]` and `inertia[i]` belong to the state after i iterations, so both have one entry
/// more than there were iterations.
struct Trace {
  /// Wall time of the loop, from a fit that observed only times. The first entry is 0.
  std::vector<double> elapsed_ms;
  std::vector<double> inertia;  ///< inertia for the centroids after i iterations
  std::vector<double> shift;    ///< sum of squared centroid shifts of each iteration
  std::optional<Replay> replay;
};

nlohmann::ordered_json to_json(const Trace& trace);
nlohmann::ordered_json to_json(const Replay& replay);
/// Throws InputError for missing keys, wrong types, and values that contradict each other or
/// `clusters`.
Trace trace_from_json(const nlohmann::ordered_json& json, std::int64_t clusters);

}  // namespace lloyd::experiment
