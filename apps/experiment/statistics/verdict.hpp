// Which of two sets of times is the faster one, if that can be told.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiment/statistics/bootstrap.hpp"
#include "experiment/statistics/timings.hpp"

namespace lloyd::experiment {

enum class Verdict { faster, slower, same, unclear };
std::string_view to_string(Verdict verdict);

/// A ratio of times is `same` where its interval is within 1 +- 3 %.
inline constexpr double kSameMargin = 0.03;
/// What the fastest samples of two runs that were not interleaved may differ by for reasons of the
/// machine.
inline constexpr double kRunMargin = 0.06;
/// A run in which the median is this much above the fastest sample was disturbed: how much, another
/// run cannot tell.
inline constexpr double kDisturbed = 0.12;
/// With fewer samples on a side nothing is told: five agree by chance with probability 1/16.
inline constexpr std::size_t kMinSamplesForVerdict = 5;

struct TimeRatio {
  MedianInterval ratio;  ///< newer / older
  Verdict verdict = Verdict::unclear;
  std::string reason;  ///< of `unclear`
  /// Rounds that both have; of two runs, the trials of the one that has fewer.
  std::size_t samples = 0;
};

/// `same`, or `faster` or `slower` where the interval is beyond 1 +- kSameMargin on one side.
Verdict verdict_of(const MedianInterval& ratio);

/// Of two variants of one run, by the ratios of the rounds that both have: the interval of their
/// median beyond 1 +- kSameMargin. `unclear`, with a ratio of NaN, where they have no round in
/// common or a time is 0.
TimeRatio compare_rounds(const Timings& older, const Timings& newer);

/// Of two runs, each with a machine that may have drifted since. The ratio is that of the medians;
/// `faster` and `slower` only where the fastest samples differ by more than kRunMargin, the
/// interval is on the same side of 1, and neither run was disturbed. (That noise only ever adds to
/// a time, so that the least one is the steadiest: J. Chen and J. Revels, "Robust benchmarking in
/// noisy environments", 2016.) Otherwise as compare_rounds().
TimeRatio compare_runs(const Timings& older, const Timings& newer);

/// The geometric mean of ratios of different settings. Its interval is made of theirs by the method
/// of variance estimates recovery, on logarithms: G. Y. Zou and A. Donner, "Construction of
/// confidence limits about effect measures: a general approach", 2008. At least one ratio.
MedianInterval geometric_mean(const std::vector<MedianInterval>& ratios);

}  // namespace lloyd::experiment
