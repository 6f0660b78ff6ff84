// MonitoredRunner: notes the conditions under which another runner's trials run.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "experiment/environment/conditions.hpp"
#include "experiment/run/trial.hpp"
#include "machine/gpu/gpu_sensors.hpp"

namespace lloyd::experiment {

/// Reads the state of the machine right before and after each trial, and that of the GPU where the
/// trial's backend uses one. It takes well under a millisecond, outside of what is timed. What
/// cannot be read is left out of the record; no trial fails of it.
class MonitoredRunner final : public TrialRunner {
 public:
  /// The arguments must outlive this object. `nvml`: the library that knows the GPUs.
  MonitoredRunner(const Plan& plan, TrialRunner& runner, const char* nvml = machine::kNvmlLibrary);

  Record run(const PlannedFit& fit, std::int64_t repeat) override;

 private:
  /// A GPU with its place in NVML; null where that is not known.
  struct UsedGpu {
    std::string name;
    machine::NvmlDevice device = nullptr;
  };
  std::optional<UsedGpu> used_gpu(const Variant& variant);
  std::optional<Conditions> conditions_before(const PlannedFit& fit, std::optional<UsedGpu>& gpu);

  const Plan& plan_;
  TrialRunner& runner_;
  const char* nvml_;
  std::vector<int> processors_;
  std::unique_ptr<machine::GpuSensors> sensors_;  ///< opened for the first trial on a GPU
};

}  // namespace lloyd::experiment
