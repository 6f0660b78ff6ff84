// SampleBounds: the two distance bounds of every sample in a fit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "bounds/bound_kernels.hpp"
#include "bounds/bounds.hpp"
#include "common/instruction_set.hpp"
#include "common/tile.hpp"
#include "common/tile_labels.hpp"

namespace lloyd_openmp {

/// Per sample an upper bound on the distance to its own centroid and a lower bound on the distance
/// to any other (Hamerly 2010), stored relative to the drift of the centroids: bounds.hpp.
/// Different threads may use different rows at the same time.
class SampleBounds {
 public:
  static std::int64_t bytes(std::int64_t n, std::int64_t k, std::int64_t d) {
    return n * 2 * static_cast<std::int64_t>(sizeof(float)) + CentroidDrift::bytes(k, d);
  }

  /// Allocates uninitialised bounds for n samples.
  void reserve(std::int64_t n) {
    if (n == samples_) return;
    upper_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(n));
    lower_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(n));
    samples_ = n;
  }

  CentroidDrift& drift() { return drift_; }
  const CentroidDrift& drift() const { return drift_; }
  StoredBounds of(std::int64_t row) const { return {upper_.get() + row, lower_.get() + row}; }

  /// Bit i: the bounds of row begin + i do not prove that its label is unchanged. `labels`: kTile.
  std::uint64_t find_open_rows(InstructionSet set, std::int64_t begin, std::int64_t rows,
                               const std::int32_t* labels) const {
    StoredBounds bounds = of(begin);
    float upper[kTile], lower[kTile];
    if (rows < kTile) {
      std::fill(std::copy_n(bounds.upper, rows, upper), upper + kTile, 0.0f);
      std::fill(std::copy_n(bounds.lower, rows, lower), lower + kTile, 0.0f);
      bounds = {upper, lower};
    }
    return find_open(set, labels, bounds, drift_) & lane_mask(rows);
  }

  /// Stores the bounds of a screened tile, rows [begin, begin + rows).
  void store_tile(InstructionSet set, std::int64_t begin, std::int64_t rows,
                  const TileLabels& nearest) const {
    const StoredBounds bounds = of(begin);
    if (rows == kTile) {
      store_bounds(set, nearest, nearest.unproven, drift_, bounds);
      return;
    }
    float upper[kTile], lower[kTile];
    store_bounds(set, nearest, nearest.unproven, drift_, {upper, lower});
    std::copy_n(upper, rows, bounds.upper);
    std::copy_n(lower, rows, bounds.lower);
  }

  /// Stores the bounds of a screened tile that was gathered from `count` rows.
  void store_rows(InstructionSet set, const std::int64_t* rows, std::int64_t count,
                  const TileLabels& nearest) const {
    float upper[kTile], lower[kTile];
    store_bounds(set, nearest, nearest.unproven, drift_, {upper, lower});
    for (std::int64_t lane = 0; lane < count; ++lane) {
      const StoredBounds bounds = of(rows[lane]);
      *bounds.upper = upper[lane];
      *bounds.lower = lower[lane];
    }
  }

 private:
  CentroidDrift drift_;
  std::int64_t samples_ = 0;
  std::unique_ptr<float[]> upper_, lower_;
};

}  // namespace lloyd_openmp
