// Whether float32 arithmetic is good enough for a data set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <lloyd/plugin/dataset_view.hpp>

namespace lloyd {

/// Bounds within which squared differences of float32 values neither overflow, nor underflow, nor
/// lose much to the rounding of centroids: far from the origin a rounded centroid is off by more
/// than the spread of the data deserves. Outside them a kernel has to compute in float64.
class Float32Range {
 public:
  /// Reads the statistics of the data set.
  explicit Float32Range(const DatasetView& dataset) : features_(dataset.features) {
    double box = 0;  // squared diagonal of the bounding box
    for (std::int64_t j = 0; j < features_; ++j) {
      const FeatureStatistics& feature = dataset.statistics[j];
      const double range = feature.maximum - feature.minimum;
      box += range * range;
    }
    largest_squared_norm_ = kMostSpreads * kMostSpreads * box;
    box_is_fine_ = box > kLeastSquare && box < kGreatestSquare;
  }

  /// Whether squared differences of samples neither overflow nor underflow in float32.
  bool covers_differences() const { return box_is_fine_; }

  /// Whether assignments to these centroids (k x d) may be computed in float32.
  bool covers(const double* centroids, std::int64_t clusters) const {
    if (!box_is_fine_) return false;
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
  // A centroid c is rounded by at most 2^-24 |c|, which moves a squared distance by 2^-23 |x-c||c|:
  // with |c| within 8 diagonals of the box that is 2^-20 of the squared diagonal.
  static constexpr double kMostSpreads = 8;
  static constexpr double kLeastSquare = 0x1p-80;
  static constexpr double kGreatestSquare = 0x1p100;

  std::int64_t features_;
  double largest_squared_norm_ = 0;
  bool box_is_fine_ = false;
};

}  // namespace lloyd
