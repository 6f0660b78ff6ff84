// Disturbances: what the machine did beside the trials of a run, by the conditions in their
// records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiment/record/fit_digest.hpp"

namespace lloyd::experiment {

/// Load, relative to what the run alone could cause, above which a machine is called busy.
inline constexpr double kBusyLoad = 1.5;
/// Relative distance from the median above which a clock counts as moved.
inline constexpr double kMovedClock = 0.1;
/// Share of the trials whose clocks must have moved for it to be said.
inline constexpr double kMovedTrials = 0.1;

/// How many threads wanted to run on the machine as a run's trials began.
struct MachineLoad {
  double median = 0;  ///< over the trials, of the load average right before each
  double own = 0;     ///< the most that the run can have caused of it, see machine_load()

  bool busy() const { return median > kBusyLoad * own; }
};

/// Nothing where no trial that counts says its load, as in records of earlier versions. `records`:
/// of a run, by planned fit.
std::optional<MachineLoad> machine_load(const std::vector<std::vector<Record>>& records);

/// Clocks right after trials, in MHz.
struct ClockReadings {
  std::int64_t trials = 0;  ///< that say theirs
  std::int64_t moved = 0;   ///< of these, more than kMovedClock from the median of their row
  double lowest = 0;
  double highest = 0;

  bool unsteady() const {
    return static_cast<double>(moved) > kMovedTrials * static_cast<double>(trials);
  }
};

/// Reasons why a GPU ran below the clock that it was set to.
struct Throttling {
  std::int64_t trials = 0;           ///< that say whether there was one
  std::int64_t throttled = 0;        ///< of these, with one before or after
  std::vector<std::string> reasons;  ///< each once, in the order in which they are met
};

struct Disturbances {
  std::optional<MachineLoad> load;
  ClockReadings cpu;  ///< of trials without a GPU
  ClockReadings gpu;
  Throttling throttling;
};

/// Finds the disturbances of a run from one planned fit after the other, of whose trials it keeps
/// one number each.
class DisturbanceFinder {
 public:
  void add(const FitDigest& fit);
  Disturbances finish() const;

 private:
  Disturbances disturbances_;
  std::vector<double> loads_;
  std::int64_t own_ = 1;
};

/// `records`: as for machine_load().
Disturbances find_disturbances(const std::vector<std::vector<Record>>& records);

/// Each that holds as a clause; in this order, separated by "; ". Empty where none does.
std::string disturbances_text(const Disturbances& disturbances);

}  // namespace lloyd::experiment
