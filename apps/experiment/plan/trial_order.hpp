// The order in which the trials of a plan are run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "experiment/plan/plan.hpp"

namespace lloyd::experiment {

struct PlannedTrial {
  std::size_t fit = 0;      ///< index in Plan::fits
  std::int64_t repeat = 0;  ///< the round
  std::int64_t order = 0;   ///< place among the trials of its setting, from 0
};

/// One round of a setting: each of its fits that is not skipped once, in a random order that
/// follows from the plan's order seed, the setting and the round alone (R. Durstenfeld, "Algorithm
/// 235: random permutation", 1964, on counter-based random numbers).
std::vector<PlannedTrial> trial_round(const Plan& plan, std::size_t setting, std::int64_t repeat);

/// The rounds 0 to Plan::repeats - 1 of a setting, one after another.
std::vector<PlannedTrial> trial_order(const Plan& plan, std::size_t setting);

/// The processor, of those given (at least one), that the trials of a round begin on: each in turn,
/// from one that follows from the plan's order seed and the setting.
int processor_of_round(const Plan& plan, std::size_t setting, std::int64_t repeat,
                       const std::vector<int>& processors);

}  // namespace lloyd::experiment
