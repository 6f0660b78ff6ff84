// MonitoredRunner: records the conditions of another runner's trials.
#pragma once

#include <optional>
#include <vector>

#include "experiment/environment/conditions.hpp"
#include "experiment/environment/gpu_monitor.hpp"
#include "experiment/run/trial.hpp"

namespace lloyd::experiment {

/// Reads the state of the machine, and of the GPU if the backend uses one, right before and after
/// each trial, outside of the timed fit. This takes well under a millisecond. Values that cannot be
/// read are left out of the record; no trial fails because of them.
class MonitoredRunner final : public TrialRunner {
 public:
  /// The arguments must outlive this object. `nvml` is the library that is queried for GPU states.
  MonitoredRunner(const Plan& plan, TrialRunner& runner, const char* nvml = machine::kNvmlLibrary);

  Record run(const PlannedFit& fit, std::int64_t repeat) override;

 private:
  std::optional<Conditions> conditions_before(const PlannedFit& fit, std::optional<UsedGpu>& gpu);

  const Plan& plan_;
  TrialRunner& runner_;
  GpuMonitor gpus_;
  std::vector<int> processors_;
};

}  // namespace lloyd::experiment
