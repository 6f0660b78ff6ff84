// Screens of boxes: which centroids can be the nearest to any of the samples that lie in one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "score_limit.hpp"
#include "tile.hpp"
#include "tile_labels.hpp"

namespace lloyd_openmp {

/// Features up to which there are boxes.
inline constexpr std::int64_t kBoxFeatures = 3;

/// Where samples y lie, relative to the origin of the tiles: |y_j - center_j| <= half_j. `radius`
/// is no less than |center| + |half_width|, and so than any |y|.
template <class Real>
struct Box {
  Real center[kBoxFeatures], half_width[kBoxFeatures];
  Real radius;
};

/// Boxes of some tiles side by side.
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
  Box<Real> all;  ///< in which they lie
};

/// Some of the centroids, feature by feature.
template <class Real>
struct BoxCentroids {
  /// For up to k centroids of d features.
  void reserve(std::int64_t k, std::int64_t d) {
    // Behind the last one there may be a vector of others, which are infinitely far.
    feature_stride = (k + 2 * kPadding - 1) / kPadding * kPadding;
    values.resize(static_cast<std::size_t>(feature_stride * (d + 1)));
    indices.resize(static_cast<std::size_t>(feature_stride));
  }

  static std::int64_t bytes(std::int64_t k, std::int64_t d) {
    return (k + 2 * kPadding) * (d + 2) * static_cast<std::int64_t>(sizeof(Real));
  }

  /// Makes others of the kPadding ones candidates `first` on.
  void pad(std::int64_t first, std::int64_t d) {
    Real* const value = values.data() + first;
    std::fill_n(value, kPadding, std::numeric_limits<Real>::infinity());
    for (std::int64_t j = 1; j <= d; ++j)
      std::fill_n(value + j * feature_stride, kPadding, Real{0});
  }

  static constexpr std::int64_t kPadding = 16;

  using Index = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;

  std::vector<Real>
      values;  ///< rows `feature_stride` values feature_stride: |e|^2, and -2 e_j for each j
  std::vector<Index> indices;  ///< which they are
  std::int64_t feature_stride = 0;
  std::int64_t count = 0;
};

/// From where to where the samples of a tile lie in each of d features. `low`, `high`: d values.
template <class Real>
void find_extent(InstructionSet set, const TileVector<Real>* tile, std::int64_t d, Real* low,
                 Real* high);

/// Puts into `remaining` those of the centroids `candidates`, at least one, that can be the nearest
/// to a sample in the box; their order stays. `scores`: room for as many values as `candidates` has
/// room for.
///
/// With the score T of score_screen.hpp, T_a(y) - T_b(y) is linear in y: nowhere in the box is it
/// below its value at the center less sum_j half_j |f_aj - f_bj|, f = -2e. Centroid b is the one
/// nearest to the center. Where that bound is above three times `limit` at `radius`, the definition
/// has b nearer than a for all samples of the box: a limit covers the rounding of the samples and
/// the centroids, and the definition's own, one that of both scores at the center and of their
/// difference, and one that of the sum, each for any sample no farther than `radius`. Source: the
/// test of T. Kanungo et al., "An efficient k-means clustering algorithm: analysis and
/// implementation", 2002, by center and half_width edges in place of a corner.
template <class Real>
void screen_box(InstructionSet set, const Box<Real>& box, std::int64_t d,
                const ScoreLimit<Real>& limit, const BoxCentroids<Real>& candidates, Real* scores,
                BoxCentroids<Real>& remaining);

/// For each box of a group which of the centroids `candidates`, at least one, is the only one that
/// screen_box() would leave; -1: there are several. `owners`: BoxGroup::kBoxes numbers.
template <class Real>
void screen_group(InstructionSet set, const BoxGroup<Real>& group, std::int64_t d,
                  const ScoreLimit<Real>& limit, const BoxCentroids<Real>& candidates,
                  std::int32_t* owners);

/// Labels a tile in the box by the nearest of `centroids`, at least one, if screen_box() remaining
/// these. `tile`: d rows, the samples as they are; `origin`: d values; `former`: kTile labels.
template <class Real>
void screen_box_tile(InstructionSet set, const TileVector<Real>* tile, const Real* origin,
                     const Box<Real>& box, std::int64_t d, const ScoreLimit<Real>& limit,
                     const BoxCentroids<Real>& centroids, const std::int32_t* former,
                     TileLabels& nearest);

}  // namespace lloyd_openmp
