// Warnings about the machine, from a summary's times and the conditions in its records.
#pragma once

#include <string>

#include "experiment/summary/summary.hpp"

namespace lloyd::experiment {

/// A row is called noisy if its relative spread between rounds exceeds this.
inline constexpr double kNoisySpread = 0.05;
/// A setting has drifted if the later half of its rounds differs from the earlier half by more than
/// this relative amount.
inline constexpr double kNoisyDrift = 0.05;

/// The slowdown of the later half of a setting's rounds against the earlier half, over all its
/// variants: the ratio of the halves' medians minus 1, with each time relative to its variant's
/// median. Variants whose median is 0 are left out. 0 for fewer than kMinTimingsForInterval rounds.
/// `rows` are those of one setting.
double drift(const std::vector<const SummaryRow*>& rows);

/// Returns "noisy: ..." without a line feed: the row with the largest spread above kNoisySpread and
/// the number of other such rows, the setting that drifted most, and the disturbances. Empty if
/// nothing exceeds its threshold.
std::string noise_text(const Summary& summary);

}  // namespace lloyd::experiment
