// Intervals of medians and of their ratios, by the bootstrap.
#pragma once

#include <cstdint>
#include <vector>

namespace lloyd::experiment {

/// Below so many values nothing narrower than their range can be said with 95 %: six values all lie
/// on one side of the true median with probability 2^-5, five with 2^-4.
inline constexpr std::size_t kMinTimingsForInterval = 6;

/// Of more values than this the medians of the resampled values are drawn from their distribution,
/// in time that does not grow with 2000 times the number of values.
inline constexpr std::size_t kMaxResampled = 1000;

/// A median, or another estimate, and the interval that holds the true one with about 95 %.
struct MedianInterval {
  double median;
  double low;
  double high;
};

/// The medians of 2000 samples that are drawn from the values with replacement: B. Efron and R. J.
/// Tibshirani, "An introduction to the bootstrap", 1993, chapter 6. At least one value. The same
/// values and `stream` give the same medians; those of two streams are independent.
std::vector<double> resampled_medians(const std::vector<double>& values, std::uint64_t stream = 0);

/// The percentile interval (the same, chapter 13): from the 2.5 % to the 97.5 % quantile of what
/// was resampled. BCa, which corrects it for other estimates, takes its acceleration from the
/// jackknife, which fails for the median (the same, section 11.6).
MedianInterval percentile_interval(double estimate, const std::vector<double>& resampled);

/// The median of values, with the percentile interval of the median; with their range for fewer
/// than six of them. NaN for no values.
MedianInterval median_interval(const std::vector<double>& values);

/// The median of `numerators` by that of `denominators`, which are samples of their own: neither
/// empty, and all values above 0. Both are resampled; with fewer than six on a side, the interval
/// is from the least to the largest ratio of two values.
MedianInterval median_ratio_interval(const std::vector<double>& numerators,
                                     const std::vector<double>& denominators);

}  // namespace lloyd::experiment
