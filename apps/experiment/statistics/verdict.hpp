// Decides which of two sets of times is faster, if the data permits it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiment/statistics/bootstrap.hpp"
#include "experiment/statistics/timings.hpp"

namespace lloyd::experiment {

/// The newer of two sets of times relative to the older one.
enum class Verdict { faster, slower, same, unclear };
std::string_view to_string(Verdict verdict);

/// A ratio of times is `same` if its interval lies between 1 / 1.03 and 1.03. The limits are
/// reciprocal, so that exchanging the sides gives the opposite verdict.
inline constexpr double kSameMargin = 0.03;
/// Relative difference of the fastest times that the machine alone may cause between two runs that
/// were not interleaved.
inline constexpr double kRunMargin = 0.06;
/// A run whose median is this much above its fastest time was disturbed, by an amount that another
/// run cannot reveal.
inline constexpr double kDisturbed = 0.12;
/// With fewer times on a side the verdict is `unclear`: five agree by chance with probability 1/16.
inline constexpr std::size_t kMinTimingsForVerdict = 5;

/// The ratio of two sets of times, and the verdict on it.
struct TimeRatio {
  MedianInterval ratio;  ///< newer / older
  Verdict verdict = Verdict::unclear;
  std::string reason;  ///< why the verdict is `unclear`
  /// Number of rounds that both have; for two runs, the number of trials of the smaller one.
  std::size_t timings = 0;
};

/// `slower` if the interval lies above 1 + kSameMargin, `faster` if it lies below 1 / (1 +
/// kSameMargin), `same` if it lies between these limits, else `unclear`.
Verdict verdict_of(const MedianInterval& ratio);

/// Compares two variants of one run by the ratios of their common rounds; the verdict is
/// verdict_of() the interval of the median ratio. `unclear`, with a ratio of NaN, if they have no
/// round in common or a time is 0.
TimeRatio compare_rounds(const Timings& older, const Timings& newer);

/// Compares two runs, between which the machine may have changed. The ratio is that of the medians.
/// `faster` and `slower` require that the fastest times differ by more than kRunMargin, that the
/// interval lies on the same side of 1, and that neither run was disturbed. The fastest time is the
/// steadiest estimate, since noise only adds to a time: J. Chen and J. Revels, "Robust benchmarking
/// in noisy environments", 2016. Otherwise as compare_rounds().
TimeRatio compare_runs(const Timings& older, const Timings& newer);

/// The geometric mean of the ratios of different settings. Its interval combines theirs by the
/// method of variance estimates recovery (MOVER), on logarithms: G. Y. Zou and A. Donner,
/// "Construction of confidence limits about effect measures: a general approach", 2008. Needs at
/// least one ratio.
MedianInterval geometric_mean(const std::vector<MedianInterval>& ratios);

}  // namespace lloyd::experiment
