// The range within which squared distances must stay.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <lloyd/plugin/dataset_view.hpp>

namespace lloyd {

/// Squared distances must stay below: leaves room for a sum over all samples.
inline constexpr double kLargestSquare = 1e290;

/// Where the squared diagonal of the data's bounding box is below, squared distances within the
/// data may be rounded to zero.
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

/// Squared distance from a point (one value per feature) to the farthest corner of the data's
/// bounding box: no sample is farther.
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
