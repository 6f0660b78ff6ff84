// DoctorReport: everything on this machine that Lloyd's results and times depend on.
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

/// A plugin that was loaded.
struct PluginReport {
  std::string name;
  std::string version;
  std::string abi;  ///< version of the boundary it was built with, "1.0"
  std::string file;
  std::string summary;
  std::string unavailable;  ///< why it cannot run here; empty when it can
};

struct DoctorReport {
  machine::Build build;
  std::string os;
  double load = -1;  ///< mean number of running threads over the last minute; negative: not known
  machine::Cpu cpu;
  std::int64_t allowed_processors = 0;  ///< logical, by the affinity mask
  machine::CgroupLimits cgroup;
  std::vector<machine::Cache> caches;
  machine::Memory memory;
  std::optional<machine::Ceilings> ceilings;  ///< none: not measured
  std::string ceilings_problem;               ///< why they could not be measured
  machine::Gpus gpus;
  std::vector<machine::OpenmpRuntime> openmp_runtimes;
  machine::NamedTexts environment;  ///< those that are set
  std::vector<PluginReport> plugins;
  std::vector<RefusedPlugin> refused;

  /// Whether any backend can run here.
  bool usable() const;
};

/// Asks the system, loads all plugins of the registry, in the processes of `plugins`, and measures
/// where it is wanted.
DoctorReport examine(Registry& registry, const isolated::IsolatedPlugins& plugins, bool measure);

/// What is wrong or disturbs measurements: a sentence each, with what to do.
std::vector<std::string> warnings_of(const DoctorReport& report);

/// One screen, at most 120 columns wide but for words that are wider.
std::string doctor_text(const DoctorReport& report);
nlohmann::ordered_json doctor_json(const DoctorReport& report);

}  // namespace lloyd::apps
