// DoctorReport: the properties of this machine that affect Lloyd's results and times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <lloyd/registry.hpp>

#include "isolated/plugins.hpp"
#include "machine/ceilings/ceilings.hpp"
#include "machine/gpu/gpu.hpp"
#include "machine/processors/caches.hpp"
#include "machine/processors/cpu.hpp"
#include "machine/system/cgroup.hpp"
#include "machine/system/memory.hpp"
#include "machine/system/openmp_runtimes.hpp"
#include "machine/system/system.hpp"

namespace lloyd::apps {

/// A loaded plugin.
struct PluginReport {
  std::string name;
  std::string version;
  std::string abi;  ///< ABI version that it was built with, "1.0"
  std::string file;
  std::string summary;
  std::string unavailable;  ///< why it cannot run here; empty if it can
};

/// The module that reads and writes HDF5 files, see find_hdf5_module().
struct Hdf5Report {
  std::string version;  ///< of HDF5; empty if the module is not usable
  std::string file;
  std::string problem;  ///< why the module is not usable; empty if it is
};

struct DoctorReport {
  machine::Build build;
  std::string os;
  double load = -1;  ///< mean number of running threads over the last minute; negative: unknown
  machine::Cpu cpu;
  std::int64_t allowed_processors = 0;  ///< logical processors in the affinity mask
  machine::CgroupLimits cgroup;
  std::vector<machine::Cache> caches;
  machine::Memory memory;
  std::optional<machine::Ceilings> ceilings;  ///< no value: not measured
  std::string ceilings_problem;               ///< reason of a failed measurement; empty if none
  machine::Gpus gpus;
  std::vector<machine::OpenmpRuntime> openmp_runtimes;
  Hdf5Report hdf5;
  machine::NamedTexts environment;  ///< see machine::set_variables()
  std::vector<PluginReport> plugins;
  std::vector<RefusedPlugin> refused;

  /// True if any backend can run here.
  bool usable() const;
};

/// Collects the report: queries the system, loads all plugins of the registry in the processes of
/// `plugins`, and, if `measure`, measures the ceilings.
DoctorReport examine(Registry& registry, const isolated::IsolatedPlugins& plugins, bool measure);

/// One sentence, with the remedy, for each problem or disturbance of measurements.
std::vector<std::string> warnings_of(const DoctorReport& report);

/// The report as text, at most 120 columns wide unless a single word is wider.
std::string doctor_text(const DoctorReport& report);
nlohmann::ordered_json doctor_json(const DoctorReport& report);

}  // namespace lloyd::apps
