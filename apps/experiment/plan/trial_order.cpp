#include "experiment/plan/trial_order.hpp"

#include <utility>

#include <lloyd/random.hpp>

namespace lloyd::experiment {

std::vector<PlannedTrial> trial_round(const Plan& plan, std::size_t setting, std::int64_t repeat) {
  const std::size_t variants = plan.variants.size();
  std::vector<PlannedTrial> round;
  for (std::size_t v = 0; v < variants; ++v) {
    const std::size_t fit = setting * variants + v;
    if (plan.fits[fit].skip.empty()) round.push_back({fit, repeat, 0});
  }
  const RandomStream random(plan.order_seed, setting);
  for (std::size_t i = round.size(); i > 1; --i) {
    const std::uint64_t index = static_cast<std::uint64_t>(repeat) * variants + (i - 1);
    std::swap(round[i - 1], round[random.below(i, index)]);
  }
  std::int64_t order = repeat * std::ssize(round);
  for (PlannedTrial& trial : round) trial.order = order++;
  return round;
}

std::vector<PlannedTrial> trial_order(const Plan& plan, std::size_t setting) {
  std::vector<PlannedTrial> order;
  for (std::int64_t repeat = 0; repeat < plan.repeats; ++repeat) {
    const std::vector<PlannedTrial> round = trial_round(plan, setting, repeat);
    order.insert(order.end(), round.begin(), round.end());
  }
  return order;
}

int processor_of_round(const Plan& plan, std::size_t setting, std::int64_t repeat,
                       const std::vector<int>& processors) {
  // Counter 0 of this stream is free: trial_round() never uses a multiple of the number of
  // variants.
  const std::uint64_t first = RandomStream(plan.order_seed, setting).below(processors.size(), 0);
  return processors[(first + static_cast<std::uint64_t>(repeat)) % processors.size()];
}

}  // namespace lloyd::experiment
