// ScreenShape: how samples and centroids are padded and divided for screening on tensor cores. Pure
// functions of sizes, without CUDA.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lloyd_cuda_fast {

/// Features that one matrix instruction multiplies: a step.
inline constexpr int kStepFeatures = 16;
/// Steps of a block of the centroid image: rows of 128 bytes, the width of the swizzle.
inline constexpr int kImageSteps = 4;
/// Samples of a tile, which one warpgroup scores together.
inline constexpr int kTileRows = 64;
/// Centroids of a tile, the columns of an accumulator.
inline constexpr int kTileColumns = 128;
/// Centroids of a narrow tile. It serves up to this many clusters, and so many features that a tile
/// of kTileColumns centroids does not fit into shared memory.
inline constexpr int kNarrowTileColumns = 64;
/// Maximum centroids of a part: a row of the grid of minima has 6 bits for its index.
inline constexpr int kMaxPartColumns = 2048;

/// Numbers of steps for which there is a kernel that keeps the fragments of a tile of samples in
/// registers, in ascending order. Beyond max_resident_steps() of the tile's width, fragments are
/// streamed instead.
inline constexpr int kResidentSteps[] = {2, 3, 5, 7, 9, 14, 18};

/// Maximum number of steps whose fragments fit into registers together with the accumulators of a
/// tile.
constexpr int max_resident_steps(int tile_columns) {
  return tile_columns == kTileColumns ? 14 : 18;
}

/// The number of steps for d features: one for the bias, and those of the features, padded to a
/// number for which there is a kernel.
constexpr int steps_for(std::int64_t features) {
  const std::int64_t steps = 1 + (features + kStepFeatures - 1) / kStepFeatures;
  for (const int resident : kResidentSteps) {
    if (steps <= resident) return resident;
  }
  return static_cast<int>((steps + kImageSteps - 1) / kImageSteps * kImageSteps);
}

/// Padding of the features, and division of the centroids into parts: each block keeps one part in
/// shared memory and streams samples past it.
struct ScreenShape {
  int steps = 0;                    ///< of kStepFeatures values, the bias included
  int image_sections = 0;           ///< blocks of kImageSteps steps in the image of a part
  int tile_columns = kTileColumns;  ///< or kNarrowTileColumns
  int part_columns = 0;             ///< centroids of a part; a multiple of tile_columns
  int parts = 0;                    ///< 0: a tile of centroids does not fit into shared memory
  int blocks_per_part = 0;          ///< CUDA blocks; each scores a share of the samples

  constexpr bool is_feasible() const { return parts > 0; }
  /// Bytes of a part of the centroid image.
  constexpr std::int64_t part_bytes() const {
    return std::int64_t{image_sections} * part_columns * 128;
  }
  /// Bytes of the fragments of 16 samples.
  constexpr std::int64_t fragment_bytes() const { return std::int64_t{steps} * 512; }
  /// Number of CUDA blocks that are launched.
  int blocks(int multiprocessors) const {
    return std::min(parts * blocks_per_part, multiprocessors);
  }
};

/// The shape with tiles of `tile_columns` centroids. Of all sizes of a part that fit into shared
/// memory, it has the one with the least work per block; it is not feasible if none fits.
constexpr ScreenShape screen_shape_with(int tile_columns, std::int64_t clusters,
                                        std::int64_t features, std::int64_t shared_bytes,
                                        int multiprocessors) {
  ScreenShape shape;
  shape.tile_columns = tile_columns;
  shape.steps = steps_for(features);
  shape.image_sections = (shape.steps + kImageSteps - 1) / kImageSteps;
  double best = 0;
  for (int columns = tile_columns; columns <= kMaxPartColumns; columns += tile_columns) {
    if (std::int64_t{shape.image_sections} * columns * 128 > shared_bytes) break;
    const std::int64_t parts = (clusters + columns - 1) / columns;
    const std::int64_t blocks_per_part = std::max<std::int64_t>(multiprocessors / parts, 1);
    const std::int64_t rounds = (parts + multiprocessors - 1) / multiprocessors;
    // The work of a block: the centroids that it scores, times its share of the samples.
    const double cost =
        static_cast<double>(rounds) * columns / static_cast<double>(blocks_per_part);
    if (shape.parts != 0 && cost > best) continue;  // of equal costs, the fewer parts
    best = cost;
    shape.part_columns = columns;
    shape.parts = static_cast<int>(parts);
    shape.blocks_per_part = static_cast<int>(blocks_per_part);
    if (columns >= clusters) break;
  }
  return shape;
}

/// The shape for k centroids of d features on a device.
constexpr ScreenShape screen_shape(std::int64_t clusters, std::int64_t features,
                                   std::int64_t shared_bytes, int multiprocessors) {
  if (clusters > kNarrowTileColumns) {
    const ScreenShape shape =
        screen_shape_with(kTileColumns, clusters, features, shared_bytes, multiprocessors);
    if (shape.is_feasible()) return shape;
  }
  return screen_shape_with(kNarrowTileColumns, clusters, features, shared_bytes, multiprocessors);
}

}  // namespace lloyd_cuda_fast
