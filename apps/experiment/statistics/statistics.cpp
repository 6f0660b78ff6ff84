#include "experiment/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace lloyd::experiment {

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

double quantile(std::vector<double> values, double p) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double place = p * static_cast<double>(values.size() - 1);
  const auto rank = static_cast<std::ptrdiff_t>(place);
  const auto at = values.begin() + rank;
  std::nth_element(values.begin(), at, values.end());
  const double fraction = place - static_cast<double>(rank);
  if (fraction == 0) return *at;
  return *at + fraction * (*std::min_element(at + 1, values.end()) - *at);
}

double median_absolute_deviation(const std::vector<double>& values) {
  const double middle = median(values);
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - middle));
  return median(std::move(deviations));
}

double relative_spread(const std::vector<double>& values) {
  const double middle = median(values);
  if (middle == 0) return std::numeric_limits<double>::quiet_NaN();
  return 1.4826 * median_absolute_deviation(values) / middle;
}

std::int64_t count_outliers(const std::vector<double>& values) {
  constexpr double kMaxScore = 3.5;
  const double middle = median(values);
  const double mad = median_absolute_deviation(values);
  return std::count_if(values.begin(), values.end(), [&](double value) {
    return 0.6745 * std::abs(value - middle) > kMaxScore * mad;
  });
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace lloyd::experiment
