#include <algorithm>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include <lloyd/data/hdf5.hpp>
#include <lloyd/error.hpp>

#include "doctor/report.hpp"
#include "machine/processors/affinity.hpp"

namespace lloyd::apps {
namespace {

PluginReport describe(const LoadedBackend& backend) {
  const PluginHeader header = read_plugin_header(backend.path());
  return {backend.name(),
          backend.version(),
          fmt::format("{}.{}", header.abi_major, header.abi_minor),
          backend.path().string(),
          backend.info().summary,
          backend.unavailable()};
}

Hdf5Report examine_hdf5() {
  try {
    const Hdf5Module module = find_hdf5_module();
    return {module.version, module.file.string(), ""};
  } catch (const InputError& error) {
    return {"", "", error.what()};
  }
}

void measure_into(DoctorReport& report) {
  const std::int64_t memory = machine::usable_memory(report.memory, report.cgroup);
  try {
    report.ceilings = machine::measure_ceilings(
        machine::processors_within_quota(machine::processors_at_start(), report.cgroup.cpus),
        machine::last_level_bytes(report.caches), std::min(report.memory.available, memory));
  } catch (const std::bad_alloc&) {
    report.ceilings_problem = "there is not enough memory";
  } catch (const std::system_error& error) {
    report.ceilings_problem = fmt::format("threads cannot be started: {}", error.what());
  }
}

}  // namespace

bool DoctorReport::usable() const {
  return std::any_of(plugins.begin(), plugins.end(),
                     [](const PluginReport& plugin) { return plugin.unavailable.empty(); });
}

DoctorReport examine(Registry& registry, const isolated::IsolatedPlugins& plugins, bool measure) {
  DoctorReport report;
  report.load = machine::load_average();
  report.build = machine::this_build();
  report.os = machine::operating_system();
  report.cpu = machine::read_cpu();
  report.allowed_processors = static_cast<std::int64_t>(machine::processors_at_start().size());
  report.cgroup = machine::read_cgroup_limits();
  report.caches = machine::read_caches();
  report.memory = machine::read_memory();
  if (measure) measure_into(report);
  report.gpus = machine::read_gpus();
  report.hdf5 = examine_hdf5();
  report.environment = machine::set_variables();
  for (const auto& backend : registry.load_all()) report.plugins.push_back(describe(*backend));
  report.refused = registry.refused();
  report.openmp_runtimes = plugins.openmp_runtimes();
  return report;
}

}  // namespace lloyd::apps
