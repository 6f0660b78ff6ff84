#include "experiment/summary/work.hpp"

#include <algorithm>
#include <cmath>

#include "experiment/statistics/statistics.hpp"
#include "text/names.hpp"

namespace lloyd::experiment {
namespace {

// The median of `value` over the profiled trials that have it.
template <class Value>
double median_of(const FitDigest& fit, Value&& value) {
  std::vector<double> values;
  for (const TrialDigest& trial : fit.trials) {
    if (!trial.is_profiled()) continue;
    const double one = value(trial);
    if (one >= 0 && std::isfinite(one)) values.push_back(one);
  }
  return median(values);
}

double whole_ms(const TrialDigest& trial) {
  return trial.loop_ms + trial.closing_ms;
}

// Phases that were not measured are negative.
double overhead_of(const TrialDigest& trial) {
  const PhaseTimes& phases = trial.extras->phases;
  double rest = whole_ms(trial);
  for (const double ms : {phases.transfer_ms, phases.assignment_ms, phases.update_ms}) {
    rest -= std::max(0.0, ms);
  }
  return std::max(0.0, rest);
}

}  // namespace

std::optional<PhaseSummary> phases_of(const FitDigest& fit) {
  const auto is_profiled = [](const TrialDigest& trial) { return trial.is_profiled(); };
  if (std::none_of(fit.trials.begin(), fit.trials.end(), is_profiled)) return {};
  const auto phase = [&](double PhaseTimes::*member, double& ms, double& percent) {
    ms = median_of(fit, [&](const TrialDigest& trial) {
      return trial.extras->phases.*member / static_cast<double>(trial.iterations);
    });
    percent = median_of(fit, [&](const TrialDigest& trial) {
      return 100 * (trial.extras->phases.*member) / whole_ms(trial);
    });
  };
  PhaseSummary phases;
  phase(&PhaseTimes::transfer_ms, phases.transfer_ms, phases.transfer_percent);
  phase(&PhaseTimes::assignment_ms, phases.assignment_ms, phases.assignment_percent);
  phase(&PhaseTimes::update_ms, phases.update_ms, phases.update_percent);
  phases.overhead_ms = median_of(fit, overhead_of);
  phases.overhead_percent = median_of(
      fit, [](const TrialDigest& trial) { return 100 * overhead_of(trial) / whole_ms(trial); });
  return phases;
}

std::optional<CounterSummary> counters_of(const FitDigest& fit) {
  CounterSummary summary;
  std::vector<double> cycles;
  std::vector<double> instructions;
  std::vector<double> cache_misses;
  std::vector<double> instructions_per_cycle;
  bool requested = false;
  const auto add = [](const std::optional<std::int64_t>& count, std::vector<double>& counts) {
    if (count) counts.push_back(static_cast<double>(*count));
  };
  for (const TrialDigest& trial : fit.trials) {
    if (!trial.counts() || !trial.extras || !trial.extras->counters) continue;
    const machine::CpuCounts& counts = *trial.extras->counters;
    requested = true;
    add(counts.cycles, cycles);
    add(counts.instructions, instructions);
    add(counts.cache_misses, cache_misses);
    if (counts.instructions && counts.cycles && *counts.cycles > 0) {
      instructions_per_cycle.push_back(instructions.back() / cycles.back());
    }
    if (summary.refusal.empty()) summary.refusal = counts.refusal;
  }
  if (!requested) return {};
  summary.cycles = median(cycles);
  summary.instructions = median(instructions);
  summary.cache_misses = median(cache_misses);
  summary.instructions_per_cycle = median(instructions_per_cycle);
  return summary;
}

Rates rates_of(const FitDigest& fit, double iteration_ms) {
  const auto n = static_cast<double>(fit.samples);
  const auto d = static_cast<double>(fit.features);
  const auto k = static_cast<double>(fit.clusters);
  const auto size = static_cast<double>(size_of(apps::parse_dtype(fit.dtype)));
  const double per_ms_to_giga_per_s = 1e-6;
  return {(n * k * (3 * d + 2) + d * (n + k)) / iteration_ms * per_ms_to_giga_per_s,
          n * k * d * size / iteration_ms * per_ms_to_giga_per_s};
}

}  // namespace lloyd::experiment
