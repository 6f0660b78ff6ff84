// Float32Range: tests whether distances in a data set can be computed in float32.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>

namespace lloyd {

/// Tests whether squared differences can be computed in float32: they must neither overflow nor
/// underflow, and rounding the centroids to float32 must hardly change distances. Far from the
/// origin the rounding error of a centroid can exceed the spread of the data. Outside this range a
/// kernel must compute in float64.
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
    differences_fit_ = squared_diagonal > kMinSquare && squared_diagonal < kMaxSquare;
  }

  /// True if squared differences of samples neither overflow nor underflow in float32.
  bool covers_differences() const { return differences_fit_; }

  /// True if assignments to these centroids (k x d) may be computed in float32.
  bool covers(const double* centroids, std::int64_t clusters) const {
    if (!differences_fit_) return false;
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
  // Rounding moves a centroid c by at most 2^-24 |c|, which changes a squared distance by at most
  // 2^-23 |x-c||c|. With |c| within 8 diagonals of the bounding box, that is at most 2^-20 of the
  // squared diagonal.
  static constexpr double kMaxDiagonals = 8;
  static constexpr double kMinSquare = 0x1p-80;
  static constexpr double kMaxSquare = 0x1p100;

  std::int64_t features_;
  double largest_squared_norm_ = 0;
  bool differences_fit_ = false;
};

}  // namespace lloyd
