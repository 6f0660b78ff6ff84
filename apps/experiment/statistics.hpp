// Median and its interval.
#pragma once

#include <vector>

namespace lloyd::experiment {

/// NaN for no values.
double median(std::vector<double> values);

/// The interval between two order statistics that holds the median of the distribution with a
/// probability of at least 95 %, whatever the distribution; the whole range for less than six
/// values, where nothing narrower can be said.
struct MedianInterval {
  double median;
  double low;
  double high;
};
MedianInterval median_interval(std::vector<double> values);

}  // namespace lloyd::experiment
