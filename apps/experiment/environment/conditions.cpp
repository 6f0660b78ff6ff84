#include "experiment/environment/conditions.hpp"

#include "json/json_or_null.hpp"
#include "json/machine_json.hpp"
#include "machine/processors/cpu.hpp"
#include "machine/system/memory.hpp"
#include "machine/system/system.hpp"

namespace lloyd::experiment {

using apps::positive_or_null;
using apps::text_or_null;
using apps::value_or_null;
using nlohmann::ordered_json;

namespace {

ordered_json state_json(const MachineState& state) {
  return {{"load", state.load < 0 ? ordered_json() : ordered_json(state.load)},
          {"memory_available_bytes", positive_or_null(state.memory_available_bytes)},
          {"cpu_mhz", positive_or_null(state.cpu_mhz)}};
}

ordered_json gpu_state_json(const machine::GpuState& state) {
  return {{"sm_mhz", value_or_null(state.sm_mhz)},
          {"memory_mhz", value_or_null(state.memory_mhz)},
          {"temperature_c", value_or_null(state.temperature_c)},
          {"power_w", value_or_null(state.power_w)},
          {"throttle", value_or_null(state.throttle)}};
}

MachineState state_from_json(const JsonFields& json) {
  MachineState state;
  if (json.has("load")) state.load = json.number("load", 0);
  if (json.has("memory_available_bytes")) {
    state.memory_available_bytes = json.integer("memory_available_bytes", 0);
  }
  if (json.has("cpu_mhz")) state.cpu_mhz = json.number("cpu_mhz", 0);
  return state;
}

machine::GpuState gpu_state_from_json(const JsonFields& json) {
  machine::GpuState state;
  if (json.has("sm_mhz")) state.sm_mhz = json.integer("sm_mhz", 0);
  if (json.has("memory_mhz")) state.memory_mhz = json.integer("memory_mhz", 0);
  if (json.has("temperature_c")) state.temperature_c = json.integer("temperature_c", 0);
  if (json.has("power_w")) state.power_w = json.number("power_w", 0);
  if (json.has("throttle")) state.throttle = json.texts("throttle");
  return state;
}

}  // namespace

MachineState read_state(const std::vector<int>& processors) {
  MachineState state;
  state.load = machine::load_average();
  state.memory_available_bytes = machine::read_memory().available;
  state.cpu_mhz = machine::highest_clock_mhz(processors);
  return state;
}

TrialProcess this_process() {
  return {machine::process_threads(), machine::loaded_openmp_runtimes(), -1};
}

ordered_json to_json(const Conditions& conditions) {
  ordered_json gpu;
  if (conditions.gpu) {
    gpu = {{"name", text_or_null(conditions.gpu->name)},
           {"driver", text_or_null(conditions.gpu->driver)},
           {"cuda", text_or_null(conditions.gpu->cuda)},
           {"before", gpu_state_json(conditions.gpu->before)},
           {"after", gpu_state_json(conditions.gpu->after)},
           {"discarded", conditions.gpu->discarded}};
  }
  return {{"before", state_json(conditions.before)},
          {"after", state_json(conditions.after)},
          {"gpu", std::move(gpu)}};
}

ordered_json to_json(const TrialProcess& process) {
  return {{"threads", positive_or_null(process.threads)},
          {"openmp", apps::openmp_json(process.openmp)},
          {"processor", process.processor < 0 ? ordered_json() : ordered_json(process.processor)}};
}

Conditions conditions_from_json(const JsonFields& json) {
  Conditions conditions;
  conditions.before = state_from_json(json.object("before"));
  conditions.after = state_from_json(json.object("after"));
  if (!json.has("gpu")) return conditions;
  const JsonFields gpu = json.object("gpu");
  conditions.gpu = {gpu.text_or_nothing("name"), gpu.text_or_nothing("driver"),
                    gpu.text_or_nothing("cuda"), gpu_state_from_json(gpu.object("before")),
                    gpu_state_from_json(gpu.object("after"))};
  if (gpu.has("discarded")) conditions.gpu->discarded = gpu.integer("discarded", 0);
  return conditions;
}

TrialProcess process_from_json(const JsonFields& json) {
  TrialProcess process;
  if (json.has("threads")) process.threads = json.integer("threads", 1);
  for (const ordered_json& entry : json.list_or_nothing("openmp")) {
    const JsonFields runtime(entry, "process.openmp");
    machine::OpenmpRuntime& loaded = process.openmp.emplace_back();
    loaded.name = runtime.text("name");
    loaded.path = runtime.text("path");
    if (runtime.has("threads")) loaded.threads = static_cast<int>(runtime.integer("threads", 1));
  }
  if (json.has("processor")) process.processor = read_processor(json);
  return process;
}

int read_processor(const JsonFields& json) {
  return static_cast<int>(json.integer("processor", 0, machine::kMaxProcessors - 1));
}

}  // namespace lloyd::experiment
