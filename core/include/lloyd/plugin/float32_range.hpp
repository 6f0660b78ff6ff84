// Float32Range: whether float32 arithmetic is accurate enough for a data set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <lloyd/plugin/dataset_view.hpp>

namespace lloyd {

/// Limits within which squared differences of float32 values neither overflow nor underflow, and
/// rounding the centroids to float32 costs little accuracy: far from the origin that rounding would
/// exceed the spread of the data. Outside these limits a kernel has to compute in float64.
class Float32Range {
 public:
  /// Reads the statistics of the data set.
  explicit Float32Range(const DatasetView& dataset) : features_(dataset.features) {
    double squared_diagonal = 0;  // of the bounding box
    for (std::int64_t j = 0; j < features_; ++j) {
      const FeatureStatistics& feature = dataset.statistics[j];
      const double range = feature.maximum - feature.minimum;
      squared_diagonal += range * range;
    }
    largest_squared_norm_ = kMaxDiagonals * kMaxDiagonals * squared_diagonal;
    diagonal_in_range_ =
        squared_diagonal > kMinSquaredDiagonal && squared_diagonal < kMaxSquaredDiagonal;
  }

  /// True if squared differences of samples neither overflow nor underflow in float32.
  bool covers_differences() const { return diagonal_in_range_; }

  /// True if assignments to these centroids (k x d) may be computed in float32.
  bool covers(const double* centroids, std::int64_t clusters) const {
    if (!diagonal_in_range_) return false;
    for (std::int64_t c = 0; c < clusters; ++c) {
      double squared_norm = 0;
      for (std::int64_t j = 0; j < features_; ++j) {
        squared_norm += centroids[c * features_ + j] * centroids[c * features_ + j];
      }
      if (!(squared_norm <= largest_squared_norm_)) return false;
    }
    return true;
  }

 private:
  // Rounding a centroid c to float32 moves it by at most 2^-24 |c|, and a squared distance by 2^-23
  // |x-c||c|. With |c| within 8 diagonals of the bounding box that is 2^-20 of the squared
  // diagonal.
  static constexpr double kMaxDiagonals = 8;
  static constexpr double kMinSquaredDiagonal = 0x1p-80;
  static constexpr double kMaxSquaredDiagonal = 0x1p100;

  std::int64_t features_;
  double largest_squared_norm_ = 0;
  bool diagonal_in_range_ = false;
};

}  // namespace lloyd
