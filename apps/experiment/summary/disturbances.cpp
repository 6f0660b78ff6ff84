#include "experiment/summary/disturbances.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiment/statistics/statistics.hpp"
#include "text/numbers.hpp"

namespace lloyd::experiment {
namespace {

using Records = std::vector<Record>;

bool has_conditions(const TrialDigest& trial) {
  return trial.status == TrialStatus::ok && trial.has_conditions;
}

// Uses only clocks right after a trial: an idle machine lowers them before it. Clocks are compared
// within a row, since more threads run slower.
void add_row(const std::vector<double>& clocks, ClockReadings& readings) {
  if (clocks.empty()) return;
  const double usual = median(clocks);
  const auto [lowest, highest] = std::minmax_element(clocks.begin(), clocks.end());
  readings.lowest = readings.trials == 0 ? *lowest : std::min(readings.lowest, *lowest);
  readings.highest = std::max(readings.highest, *highest);
  readings.trials += std::ssize(clocks);
  readings.moved += std::count_if(clocks.begin(), clocks.end(), [usual](double clock) {
    return std::abs(clock - usual) > kMovedClock * usual;
  });
}

bool has_reason(const machine::GpuState& state, std::string_view reason) {
  return state.throttle &&
         std::find(state.throttle->begin(), state.throttle->end(), reason) != state.throttle->end();
}

void add_clocks(const FitDigest& fit, Disturbances& disturbances) {
  std::vector<double> cpu;
  std::vector<double> gpu;
  for (const TrialDigest& trial : fit.trials) {
    if (!has_conditions(trial)) continue;
    if (trial.gpu() == nullptr) {
      if (trial.cpu_mhz > 0) cpu.push_back(trial.cpu_mhz);
      continue;
    }
    // If the labels were checked after the fit, the GPU may be idle again.
    const machine::GpuState& after = trial.gpu()->after;
    if (after.sm_mhz && !has_reason(after, "idle")) {
      gpu.push_back(static_cast<double>(*after.sm_mhz));
    }
  }
  add_row(cpu, disturbances.cpu);
  add_row(gpu, disturbances.gpu);
}

void add_throttling(const GpuConditions& gpu, Throttling& throttling) {
  throttling.repeated += gpu.discarded > 0;
  if (!gpu.before.throttle && !gpu.after.throttle) return;
  ++throttling.trials;
  bool throttled = false;
  for (const machine::GpuState* state : {&gpu.before, &gpu.after}) {
    if (!state->throttle) continue;
    for (const std::string& reason : *state->throttle) {
      if (!machine::is_throttling(reason)) continue;
      throttled = true;
      std::vector<std::string>& known = throttling.reasons;
      if (std::find(known.begin(), known.end(), reason) == known.end()) known.push_back(reason);
    }
  }
  throttling.throttled += throttled;
}

std::string clocks_text(const char* what, const ClockReadings& readings) {
  return fmt::format(
      "{} clock was more than {:.0f}% off its usual after {} of {} ({:.0f} to {:.0f} MHz)", what,
      100 * kMovedClock, readings.moved, format_count(readings.trials, "trial"), readings.lowest,
      readings.highest);
}

}  // namespace

// The load average counts every runnable thread, those of the run included. A backend that uses all
// processors, or is set to more threads than there are processors, causes that load alone and must
// not be called busy. The load is that of the whole machine, of which the run may use only a part;
// other programs on the remaining processors are harmless.
void DisturbanceFinder::add(const FitDigest& fit) {
  for (const TrialDigest& trial : fit.trials) {
    if (!has_conditions(trial)) continue;
    if (trial.gpu() != nullptr) add_throttling(*trial.gpu(), disturbances_.throttling);
    if (trial.load < 0) continue;
    loads_.push_back(trial.load);
    own_ = std::max(own_, trial.own_threads);
  }
  add_clocks(fit, disturbances_);
}

Disturbances DisturbanceFinder::finish() const {
  Disturbances disturbances = disturbances_;
  if (!loads_.empty()) {
    disturbances.load = MachineLoad{median(loads_), static_cast<double>(own_)};
  }
  return disturbances;
}

std::optional<MachineLoad> machine_load(const std::vector<Records>& records) {
  return find_disturbances(records).load;
}

Disturbances find_disturbances(const std::vector<Records>& records) {
  DisturbanceFinder finder;
  for (const Records& fit : records) finder.add(FitDigest(fit));
  return finder.finish();
}

std::string disturbances_text(const Disturbances& disturbances) {
  std::vector<std::string> parts;
  if (disturbances.load && disturbances.load->busy()) {
    parts.push_back(
        fmt::format("other programs used the machine (load before a trial {}, of which the run "
                    "causes at most {})",
                    format_number(disturbances.load->median), disturbances.load->own));
  }
  if (disturbances.cpu.unsteady()) {
    parts.push_back(clocks_text("the processor's", disturbances.cpu));
  }
  if (disturbances.gpu.unsteady()) parts.push_back(clocks_text("the GPU's", disturbances.gpu));
  const Throttling& throttling = disturbances.throttling;
  if (throttling.throttled > 0) {
    parts.push_back(fmt::format("the GPU was throttled in {} of {} ({})", throttling.throttled,
                                format_count(throttling.trials, "trial"),
                                fmt::join(throttling.reasons, ", ")));
  }
  if (throttling.repeated > 0) {
    parts.push_back(fmt::format("{} of {} {} repeated because the GPU was throttled",
                                throttling.repeated, format_count(throttling.trials, "trial"),
                                throttling.repeated == 1 ? "was" : "were"));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace lloyd::experiment
