// Timings: the times of one setting with one variant, by round.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace lloyd::experiment {

/// Milliseconds of the successful trials, by round. Trials of two variants in the same round ran
/// one after the other, so that slow changes of the machine affect both alike.
using Timings = std::map<std::int64_t, double>;

/// In the order of the rounds.
std::vector<double> values_of(const Timings& timings);

/// Returns numerator / denominator for each round that has both.
std::vector<double> paired_ratios(const Timings& numerators, const Timings& denominators);

}  // namespace lloyd::experiment
