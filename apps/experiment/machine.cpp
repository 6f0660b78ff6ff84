#include "experiment/machine.hpp"

#include "machine/cgroup.hpp"
#include "machine/cpu.hpp"
#include "machine/memory.hpp"
#include "machine/system.hpp"

namespace lloyd::experiment {

Machine this_machine() {
  const machine::Build build = machine::this_build();
  Machine machine;
  machine.cpu = machine::read_cpu_model();
  machine.cores = static_cast<std::int64_t>(machine::allowed_processors().size());
  machine.memory_bytes =
      machine::usable_memory(machine::read_memory(), machine::read_cgroup_limits());
  machine.os = machine::operating_system();
  machine.compiler = build.compiler;
  machine.lloyd = build.version;
  return machine;
}

}  // namespace lloyd::experiment
