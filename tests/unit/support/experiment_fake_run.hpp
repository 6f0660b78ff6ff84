// Plans and runs of experiments with the fake backends.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/run/run_plan.hpp"
#include "unit/support/experiment_fake_backend.hpp"

namespace lloyd::fake {

inline experiment::Plan plan_of(const std::string& config, experiment::DatasetCache& datasets,
                                const experiment::Machine& machine = {},
                                const std::vector<std::string>& overrides = {}) {
  using namespace experiment;
  return make_plan(read_experiment(parse_config(config, "c.yaml"), ".", "c", {overrides, {}}), load,
                   datasets, machine);
}

/// Stops fits while it is on.
class Switch final : public Observer {
 public:
  bool on_iteration(const IterationRecord&) noexcept override { return !on; }
  bool stop_requested() const noexcept override { return on; }
  bool on = false;
};

/// run_plan() of the run `run` without progress output; `stop` as in run_plan().
inline experiment::RunResult run_quietly(
    const experiment::Plan& plan, experiment::TrialRunner& runner,
    const std::function<void(const experiment::Record&)>& keep,
    const std::function<bool()>& stop = [] { return false; }, const std::string& run = "run",
    experiment::EarlierTrials earlier = {}) {
  experiment::Progress progress(
      plan, [](std::string_view) {}, false);
  const auto describe = [&](const experiment::PlannedFit& fit) {
    return describe_unrun(plan, fit, run, {});
  };
  return experiment::run_plan(plan, runner, describe, keep, stop, progress, std::move(earlier));
}

}  // namespace lloyd::fake
