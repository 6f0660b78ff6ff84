// Conditions: what a trial ran under that changes from one to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "json/json_fields.hpp"
#include "machine/gpu/gpu_sensors.hpp"
#include "machine/system/openmp_runtimes.hpp"

namespace lloyd::experiment {

/// The machine at one moment.
struct MachineState {
  double load = -1;                         ///< average over the last minute; negative: not known
  std::int64_t memory_available_bytes = 0;  ///< 0: not known
  double cpu_mhz = 0;  ///< highest clock of the processors that the run may use; 0: not known
};

/// The GPU that a trial's backend uses.
struct GpuConditions {
  std::string name;    ///< as CUDA calls it
  std::string driver;  ///< version; empty where not known
  std::string cuda;    ///< newest CUDA version that the driver runs; likewise
  machine::GpuState before;
  machine::GpuState after;
};

/// Right before and right after a trial. What a first repeat does untimed lies between them too.
struct Conditions {
  MachineState before;
  MachineState after;
  std::optional<GpuConditions> gpu;  ///< none where the backend uses none
};

/// The process that ran a trial, right after it.
struct TrialProcess {
  std::int64_t threads = 0;  ///< 0: not known; those that OpenMP keeps for later count
  std::vector<machine::OpenmpRuntime> openmp;
  int processor = -1;  ///< that the timed fit began on; negative: not known
};

/// Asks the system, on the calling thread. They throw nothing but std::bad_alloc.
MachineState read_state(const std::vector<int>& processors);
TrialProcess this_process();

nlohmann::ordered_json to_json(const Conditions& conditions);
nlohmann::ordered_json to_json(const TrialProcess& process);
/// They throw InputError as JsonFields does.
Conditions conditions_from_json(const JsonFields& json);
TrialProcess process_from_json(const JsonFields& json);
/// The value of "processor".
int read_processor(const JsonFields& json);

}  // namespace lloyd::experiment
