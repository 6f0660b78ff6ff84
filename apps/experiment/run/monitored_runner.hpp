// MonitoredRunner: records the conditions of another runner's trials, and repeats throttled ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "experiment/environment/conditions.hpp"
#include "experiment/environment/gpu_monitor.hpp"
#include "experiment/run/trial.hpp"

namespace lloyd::experiment {

/// A throttled trial is run again at most this many times.
inline constexpr std::int64_t kMaxThrottledRepeats = 3;
/// A GPU counts as throttled below this share of its maximum SM clock, as in nvbench.
inline constexpr double kThrottledClock = 0.75;

/// Reads the state of the machine, and of the GPU if the backend uses one, right before and after
/// each trial, outside of the timed fit. This takes well under a millisecond. Values that cannot be
/// read are left out of the record; no trial fails because of them.
///
/// A successful trial is throttled if the GPU right after it has a throttling reason and its SM
/// clock is below kThrottledClock. If the plan says so, such a trial is run again after a pause,
/// until it is not throttled. The last attempt is recorded, with the number of those before it. If
/// the last one is throttled as well, the GPU cannot do better, and later trials of the variant are
/// not repeated.
class MonitoredRunner final : public TrialRunner {
 public:
  /// Lets the GPU cool down. Returns false if the run was interrupted.
  using Pause = std::function<bool()>;

  /// The arguments must outlive this object. `nvml` is the library that is queried for GPU states.
  MonitoredRunner(const Plan& plan, TrialRunner& runner, Pause pause,
                  const char* nvml = machine::kNvmlLibrary);

  Record run(const PlannedFit& fit, std::int64_t repeat) override;

 private:
  /// A trial's record, and whether the GPU was throttled.
  struct Attempt {
    Record record;
    bool throttled = false;
  };
  Attempt attempt(const PlannedFit& fit, std::int64_t repeat);
  std::optional<Conditions> conditions_before(const PlannedFit& fit, std::optional<UsedGpu>& gpu);

  const Plan& plan_;
  TrialRunner& runner_;
  Pause pause_;
  GpuMonitor gpus_;
  std::vector<int> processors_;
  std::set<std::size_t> always_throttled_;  ///< variants whose trials are not repeated any more
};

/// Waits for a second and returns true, or returns false as soon as stop() returns true.
bool pause_for_cooling(const std::function<bool()>& stop);

}  // namespace lloyd::experiment
