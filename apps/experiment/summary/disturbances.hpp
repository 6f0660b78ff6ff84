// Disturbances: load, clock changes and GPU throttling during a run, found from the conditions in
// its records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiment/record/fit_digest.hpp"

namespace lloyd::experiment {

/// A machine is busy if its load exceeds this multiple of the load that the run alone can cause.
inline constexpr double kBusyLoad = 1.5;
/// A clock has moved if it differs from the median by more than this relative amount.
inline constexpr double kMovedClock = 0.1;
/// Clocks are reported as unsteady if they moved in more than this share of the trials.
inline constexpr double kMovedTrials = 0.1;

/// The load of the machine at the start of a run's trials, in runnable threads.
struct MachineLoad {
  double median = 0;  ///< median over the trials of the load average right before each
  double own = 0;     ///< maximum load that the run itself can cause, see DisturbanceFinder::add()

  bool busy() const { return median > kBusyLoad * own; }
};

/// The load of a run; none if no successful trial recorded it, as in records of earlier versions.
/// `records` holds one list per planned fit.
std::optional<MachineLoad> machine_load(const std::vector<std::vector<Record>>& records);

/// Clock rates right after trials, in MHz.
struct ClockReadings {
  std::int64_t trials = 0;  ///< trials that recorded a clock
  std::int64_t moved = 0;   ///< those more than kMovedClock from the median of their row
  double lowest = 0;
  double highest = 0;

  bool unsteady() const {
    return static_cast<double>(moved) > kMovedTrials * static_cast<double>(trials);
  }
};

/// Reasons why a GPU ran below the clock that it was set to.
struct Throttling {
  std::int64_t trials = 0;           ///< trials that recorded the throttling state
  std::int64_t throttled = 0;        ///< those throttled before or after the trial
  std::int64_t repeated = 0;         ///< those repeated because an attempt at them was throttled
  std::vector<std::string> reasons;  ///< distinct, in order of first occurrence
};

struct Disturbances {
  std::optional<MachineLoad> load;
  ClockReadings cpu;  ///< clocks of trials without a GPU
  ClockReadings gpu;
  Throttling throttling;
};

/// Accumulates the disturbances of a run, one planned fit at a time, in constant memory but for one
/// number per trial.
class DisturbanceFinder {
 public:
  void add(const FitDigest& fit);
  Disturbances finish() const;

 private:
  Disturbances disturbances_;
  std::vector<double> loads_;
  std::int64_t own_ = 1;
};

/// Takes `records` as machine_load() does.
Disturbances find_disturbances(const std::vector<std::vector<Record>>& records);

/// Returns one clause for each disturbance above its threshold, separated by "; "; empty if there
/// is none.
std::string disturbances_text(const Disturbances& disturbances);

}  // namespace lloyd::experiment
