// The random order in which the trials of a plan run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "experiment/plan/plan.hpp"

namespace lloyd::experiment {

/// One trial and its position in the plan.
struct PlannedTrial {
  std::size_t fit = 0;      ///< index in Plan::fits
  std::int64_t repeat = 0;  ///< the round
  std::int64_t order = 0;   ///< place among the trials of its setting, from 0
};

/// Returns one round of a setting: each fit that is not skipped once, in a random order that
/// depends only on the plan's order seed, the setting and the round (R. Durstenfeld, "Algorithm
/// 235: random permutation", 1964, with counter-based random numbers).
std::vector<PlannedTrial> trial_round(const Plan& plan, std::size_t setting, std::int64_t repeat);

/// Returns the rounds 0 to Plan::repeats - 1 of a setting, one after another.
std::vector<PlannedTrial> trial_order(const Plan& plan, std::size_t setting);

/// Returns the processor on which the trials of a round begin. Rounds use `processors` (at least
/// one) round-robin; the first depends on the plan's order seed and the setting.
int processor_of_round(const Plan& plan, std::size_t setting, std::int64_t repeat,
                       const std::vector<int>& processors);

}  // namespace lloyd::experiment
