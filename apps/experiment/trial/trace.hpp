// Trace: how one fit went, iteration by iteration; measured apart from the timed trials.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace lloyd::experiment {

/// Coordinates of a replay are whole numbers from 0 to this, over the extent of what is shown.
inline constexpr int kReplayGrid = 9999;
/// At most so many samples of a replay; a larger data set is drawn from with a fixed seed.
inline constexpr std::int64_t kReplaySamples = 1200;

/// Some samples and all centroids in two dimensions, over some iterations of a fit.
struct Replay {
  bool components = false;  ///< the first two principal components; else the two features
  std::array<std::string, 2> axes;
  std::array<double, 2> low{};              ///< values at 0 of the grid
  std::array<double, 2> high{};             ///< values at kReplayGrid
  std::array<double, 2> share{};            ///< of the variance, of the axes; 0 for features
  std::vector<int> points;                  ///< m x 2, on the grid
  std::vector<std::int64_t> iterations;     ///< of each frame, ascending from 0
  std::vector<std::vector<int>> centroids;  ///< of each frame, k x 2, after so many iterations
  /// Of the first frame m labels, by its centroids; of the others what changed since the frame
  /// before, as pairs of point and label.
  std::vector<std::vector<int>> labels;
};

/// Entry i of the first two lists is the state after i iterations, so both have one entry more than
/// there were iterations.
struct Trace {
  /// Wall time of the loop, from a fit in which only times were observed. The first is 0.
  std::vector<double> elapsed_ms;
  std::vector<double> inertia;  ///< of the centroids
  std::vector<double> shift;    ///< sum of squared centroid shifts, of each iteration
  std::optional<Replay> replay;
};

nlohmann::ordered_json to_json(const Trace& trace);
nlohmann::ordered_json to_json(const Replay& replay);
/// Throws InputError for what is missing, of another type, or contradicts itself or `clusters`.
Trace trace_from_json(const nlohmann::ordered_json& json, std::int64_t clusters);

}  // namespace lloyd::experiment
