// Screens boxes: which centroids can be nearest to a sample inside a box?
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "common/score_limit.hpp"
#include "common/tile.hpp"
#include "common/tile_labels.hpp"

namespace lloyd_openmp {

/// Maximum number of features of boxes.
inline constexpr std::int64_t kBoxFeatures = 3;

/// A box that contains samples y, relative to the origin: |y_j - center_j| <= half_width_j.
/// `radius` is at least |center| + |half_width|, and so at least any |y|.
template <class Real>
struct Box {
  Real center[kBoxFeatures], half_width[kBoxFeatures];
  Real radius;
};

/// The boxes of several tiles, stored side by side for SIMD.
template <class Real>
struct alignas(64) BoxGroup {
  static constexpr std::int64_t kBoxes = 16;

  void set(std::int64_t i, const Box<Real>& box) {
    for (std::int64_t j = 0; j < kBoxFeatures; ++j) {
      center[j][i] = box.center[j];
      half_width[j][i] = box.half_width[j];
    }
    radius[i] = box.radius;
  }

  Real center[kBoxFeatures][kBoxes], half_width[kBoxFeatures][kBoxes], radius[kBoxes];
  Box<Real> all;  ///< contains all boxes of the group
};

/// A subset of the centroids, stored feature by feature.
template <class Real>
struct BoxCentroids {
  /// For up to k centroids of d features.
  void reserve(std::int64_t k, std::int64_t d) {
    // Leaves room for a vector of padding after the last centroid.
    feature_stride = (k + 2 * kPadding - 1) / kPadding * kPadding;
    values.resize(static_cast<std::size_t>(feature_stride * (d + 1)));
    indices.resize(static_cast<std::size_t>(feature_stride));
  }

  static std::int64_t bytes(std::int64_t k, std::int64_t d) {
    return (k + 2 * kPadding) * (d + 2) * static_cast<std::int64_t>(sizeof(Real));
  }

  /// Fills kPadding entries from `first` on with centroids at infinite distance.
  void pad(std::int64_t first, std::int64_t d) {
    Real* const value = values.data() + first;
    std::fill_n(value, kPadding, std::numeric_limits<Real>::infinity());
    for (std::int64_t j = 1; j <= d; ++j)
      std::fill_n(value + j * feature_stride, kPadding, Real{0});
  }

  static constexpr std::int64_t kPadding = 16;

  using Index = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;

  std::vector<Real>
      values;  ///< d + 1 rows, feature_stride values apart: |e|^2, then -2 e_j for each feature j
  std::vector<Index> indices;  ///< index of each centroid
  std::int64_t feature_stride = 0;
  std::int64_t count = 0;
};

/// The range of each of d features in a tile. `low`, `high`: d values.
template <class Real>
void find_extent(InstructionSet set, const TileVector<Real>* tile, std::int64_t d, Real* low,
                 Real* high);

/// Copies to `remaining`, in the same order, the `candidates` (at least one) that can be nearest to
/// a sample in the box. `scores`: scratch with the capacity of `candidates`. Proof:
/// docs/design/openmp/exactness.md, section 3.
template <class Real>
void screen_box(InstructionSet set, const Box<Real>& box, std::int64_t d,
                const ScoreLimit<Real>& limit, const BoxCentroids<Real>& candidates, Real* scores,
                BoxCentroids<Real>& remaining);

/// For each box of a group: the index of the only centroid that screen_box() would leave, or -1 if
/// there are several. `candidates`: at least one; `owners`: BoxGroup::kBoxes values.
template <class Real>
void screen_group(InstructionSet set, const BoxGroup<Real>& group, std::int64_t d,
                  const ScoreLimit<Real>& limit, const BoxCentroids<Real>& candidates,
                  std::int32_t* owners);

/// Labels a tile inside the box by the nearest of `centroids`, the candidates that screen_box()
/// left. `tile`: d vectors without the origin subtracted; `origin`: d values; `former`: kTile
/// labels.
template <class Real>
void screen_box_tile(InstructionSet set, const TileVector<Real>* tile, const Real* origin,
                     const Box<Real>& box, std::int64_t d, const ScoreLimit<Real>& limit,
                     const BoxCentroids<Real>& centroids, const std::int32_t* former,
                     TileLabels& nearest);

}  // namespace lloyd_openmp
