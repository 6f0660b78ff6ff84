// Robust descriptive statistics.
#pragma once

#include <cstdint>
#include <vector>

namespace lloyd::experiment {

/// NaN for no values.
double median(std::vector<double> values);

/// The quantile at `p` in [0, 1], interpolated linearly between order statistics (R. J. Hyndman and
/// Y. Fan, "Sample quantiles in statistical packages", 1996, definition 7). NaN for no values.
double quantile(std::vector<double> values, double p);

/// Median of the absolute deviations from the median. NaN for no values.
double median_absolute_deviation(const std::vector<double>& values);

/// 1.4826 median absolute deviations, relative to the median: for normally distributed values an
/// estimate of the relative standard deviation that is robust to outliers. NaN for no values, and
/// if the median is 0.
double relative_spread(const std::vector<double>& values);

/// Counts the values whose modified z-score, 0.6745 |x - median| / MAD, is above 3.5 (B. Iglewicz
/// and D. C. Hoaglin, "How to detect and handle outliers", 1993). If more than half of the values
/// are equal, all others are outliers.
std::int64_t count_outliers(const std::vector<double>& values);

/// All values must be positive. NaN for no values.
double geometric_mean(const std::vector<double>& values);

}  // namespace lloyd::experiment
