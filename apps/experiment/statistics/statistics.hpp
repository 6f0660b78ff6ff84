// Statistics of samples, whatever they are of.
#pragma once

#include <cstdint>
#include <vector>

namespace lloyd::experiment {

/// NaN for no values.
double median(std::vector<double> values);

/// The quantile at `p` in [0, 1], linear between order statistics (R. J. Hyndman and Y. Fan,
/// "Sample quantiles in statistical packages", 1996, definition 7). NaN for no values.
double quantile(std::vector<double> values, double p);

/// Median of the absolute deviations from the median. NaN for no values.
double median_absolute_deviation(const std::vector<double>& values);

/// 1.4826 median absolute deviations, relative to the median: for normal samples an estimate of
/// their relative standard deviation, that outliers hardly change. NaN for no values, and where the
/// median is 0.
double relative_spread(const std::vector<double>& values);

/// Values whose modified z-score, 0.6745 |x - median| / MAD, is above 3.5 (B. Iglewicz and D. C.
/// Hoaglin, "How to detect and handle outliers", 1993). Where more than half of the values are
/// equal, all others are outliers.
std::int64_t count_outliers(const std::vector<double>& values);

/// Of positive values; NaN for none.
double geometric_mean(const std::vector<double>& values);

}  // namespace lloyd::experiment
