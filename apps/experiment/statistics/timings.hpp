// Timings: the times of one setting with one variant, by round.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace lloyd::experiment {

/// Milliseconds of the trials that count, by their repeat. Trials of two variants with the same
/// repeat ran one after the other, so that what drifts on the machine met both alike.
using Timings = std::map<std::int64_t, double>;

/// In the order of the rounds.
std::vector<double> values_of(const Timings& timings);

/// numerator / denominator of each round that has both.
std::vector<double> paired_ratios(const Timings& numerators, const Timings& denominators);

}  // namespace lloyd::experiment
