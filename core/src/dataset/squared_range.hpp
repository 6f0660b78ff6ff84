// Limits of squared distances.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>

namespace lloyd {

/// Upper limit of squared distances; leaves room for a sum over all samples.
inline constexpr double kLargestSquare = 1e290;

/// Lower limit of the squared diagonal of the data's bounding box: below it, squared distances
/// within the data could be rounded to zero.
inline constexpr double kSmallestSquare = 1e-300;

/// Squared diagonal of the data's bounding box.
inline double squared_diagonal(const std::vector<FeatureStatistics>& features) {
  double sum = 0;
  for (const FeatureStatistics& feature : features) {
    const double range = feature.maximum - feature.minimum;
    sum += range * range;
  }
  return sum;
}

/// Squared distance from a point (d values) to the farthest corner of the data's bounding box: an
/// upper bound of its distance to all samples.
inline double farthest_square(const std::vector<FeatureStatistics>& features, const double* point) {
  double sum = 0;
  for (std::size_t j = 0; j < features.size(); ++j) {
    const double reach = std::max(std::abs(point[j] - features[j].minimum),
                                  std::abs(point[j] - features[j].maximum));
    sum += reach * reach;
  }
  return sum;
}

}  // namespace lloyd
