#include "experiment/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace lloyd::experiment {

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return values[middle - 1] + (values[middle] - values[middle - 1]) / 2;
}

MedianInterval median_interval(std::vector<double> values) {
  const double middle = median(values);
  if (values.empty()) return {middle, middle, middle};
  std::sort(values.begin(), values.end());
  // The number of values below the distribution's median is binomial. Leaving out j values at each
  // end misses the median with probability 2 P(number <= j).
  const auto n = static_cast<double>(values.size());
  const auto probability = [n](std::size_t number) {
    const auto j = static_cast<double>(number);
    return std::exp(std::lgamma(n + 1) - std::lgamma(j + 1) - std::lgamma(n - j + 1) -
                    n * std::log(2.0));
  };
  std::size_t left_out = 0;
  double tail = probability(0) + probability(1);
  while (2 * tail <= 0.05) {
    ++left_out;
    tail += probability(left_out + 1);
  }
  return {middle, values[left_out], values[values.size() - 1 - left_out]};
}

}  // namespace lloyd::experiment
