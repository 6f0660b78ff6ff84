// What a summary's samples and records say about the machine that they were taken on.
#pragma once

#include <string>

#include "experiment/summary/summary.hpp"

namespace lloyd::experiment {

/// Relative spread between rounds above which a row is called noisy.
inline constexpr double kNoisySpread = 0.05;
/// Relative difference between the later and the earlier half of a setting's rounds above which it
/// is said to have drifted.
inline constexpr double kNoisyDrift = 0.05;

/// How much slower the later half of the rounds of a setting was than the earlier half, over all
/// its variants: the ratio of the halves' medians, each sample relative to its variant's median,
/// minus 1. Variants whose median is 0 are left out. 0 for fewer than six rounds. `rows`: those of
/// one setting.
double drift(const std::vector<const SummaryRow*>& rows);

/// "noisy: ..." without a line feed: which row's spread is the largest above kNoisySpread and how
/// many more are, which setting has drifted most, and the disturbances that hold; empty where
/// nothing is above its level.
std::string noise_text(const Summary& summary);

}  // namespace lloyd::experiment
