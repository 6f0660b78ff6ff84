// Conditions: the state of the machine during a trial, which differs from trial to trial.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <lloyd/internal/json_fields.hpp>

#include "machine/gpu/gpu_sensors.hpp"
#include "machine/system/openmp_runtimes.hpp"

namespace lloyd::experiment {

/// The machine at one moment.
struct MachineState {
  double load = -1;  ///< load average over the last minute; negative: unknown
  std::int64_t memory_available_bytes = 0;  ///< 0: unknown
  double cpu_mhz = 0;  ///< highest clock of the processors that the run may use; 0: unknown
};

/// The GPU that a trial's backend uses.
struct GpuConditions {
  std::string name;    ///< name as CUDA reports it
  std::string driver;  ///< driver version; empty: unknown
  std::string cuda;    ///< newest CUDA version that the driver supports; empty: unknown
  machine::GpuState before;
  machine::GpuState after;
  /// Number of throttled attempts at the trial before this one, which were discarded. 0 in records
  /// of earlier versions.
  std::int64_t discarded = 0;
};

/// The state right before and right after a trial. In the first repeat of a fit, the untimed fit
/// also falls between them.
struct Conditions {
  MachineState before;
  MachineState after;
  std::optional<GpuConditions> gpu;  ///< none if the backend uses no GPU
};

/// The process that ran a trial, right after it.
struct TrialProcess {
  std::int64_t threads = 0;  ///< 0: unknown; includes idle threads that a backend keeps
  std::vector<machine::OpenmpRuntime> openmp;
  int processor = -1;  ///< processor on which the timed fit began; negative: unknown
};

/// Query the system from the calling thread. Throw nothing but std::bad_alloc.
MachineState read_state(const std::vector<int>& processors);
TrialProcess this_process();

nlohmann::ordered_json to_json(const Conditions& conditions);
nlohmann::ordered_json to_json(const TrialProcess& process);
/// Throw InputError as JsonFields does.
Conditions conditions_from_json(const JsonFields& json);
TrialProcess process_from_json(const JsonFields& json);
/// The value of "processor".
int read_processor(const JsonFields& json);

}  // namespace lloyd::experiment
