// Bootstrap confidence intervals of medians and of their ratios.
#pragma once

#include <cstdint>
#include <vector>

namespace lloyd::experiment {

/// With fewer values, no interval narrower than their range reaches 95 %: six values all lie on one
/// side of the true median with probability 2^-5, five with 2^-4.
inline constexpr std::size_t kMinTimingsForInterval = 6;

/// Above this number of values, the resampled medians are drawn from their distribution directly,
/// so that the time does not grow with 2000 times the number of values.
inline constexpr std::size_t kMaxResampled = 1000;

/// An estimate (usually a median) and its 95 % confidence interval.
struct MedianInterval {
  double median;
  double low;
  double high;
};

/// Returns the medians of 2000 bootstrap resamples, drawn with replacement: B. Efron and R. J.
/// Tibshirani, "An introduction to the bootstrap", 1993, chapter 6. Needs at least one value. The
/// same values and `stream` give the same medians; different streams are independent.
std::vector<double> resampled_medians(const std::vector<double>& values, std::uint64_t stream = 0);

/// The percentile interval (Efron and Tibshirani, chapter 13): the 2.5 % to the 97.5 % quantile of
/// the resampled estimates. BCa, the bias-corrected alternative, takes its acceleration from the
/// jackknife, which fails for the median (section 11.6).
MedianInterval percentile_interval(double estimate, const std::vector<double>& resampled);

/// The median with its percentile interval; with the range of the values if there are fewer than
/// kMinTimingsForInterval. NaN for no values.
MedianInterval median_interval(const std::vector<double>& values);

/// The median of ratios, which must be positive and finite, with its interval, both computed on
/// logarithms: the median of an even number is the geometric mean of the middle two. So the
/// reciprocal ratios have the reciprocal median and interval. NaN for no ratios.
MedianInterval ratio_interval(std::vector<double> ratios);

/// The ratio of the medians of two independent sets of values. Neither may be empty, and all values
/// must be positive. Both sets are resampled; if either has fewer than kMinTimingsForInterval
/// values, the interval spans the smallest to the largest ratio of two values.
MedianInterval median_ratio_interval(const std::vector<double>& numerators,
                                     const std::vector<double>& denominators);

}  // namespace lloyd::experiment
