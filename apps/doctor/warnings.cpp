#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "doctor/report.hpp"
#include "text/numbers.hpp"

namespace lloyd::apps {
namespace {

using Warnings = std::vector<std::string>;

void check_plugins(const DoctorReport& report, Warnings& warnings) {
  for (const RefusedPlugin& refused : report.refused) {
    warnings.push_back(fmt::format(
        "a plugin is refused: {}; rebuild it with this Lloyd, or remove it", refused.reason));
  }
  if (!report.usable()) {
    warnings.emplace_back(report.plugins.empty() ? "there is no plugin, so nothing can be "
                                                   "clustered; name their folder with --plugin-dir "
                                                   "or LLOYD_PLUGIN_PATH"
                                                 : "no backend can run here, so nothing can be "
                                                   "clustered; build or install one that needs "
                                                   "no more than this machine has");
  }
}

// Warnings of ignored entries of LLOYD_PLUGIN_PATH.
void check_plugin_path(std::string_view value, Warnings& warnings) {
  while (!value.empty()) {
    const std::size_t end = std::min(value.find(':'), value.size());
    const std::string entry(value.substr(0, end));
    value.remove_prefix(std::min(end + 1, value.size()));
    std::error_code error;
    if (entry.empty()) continue;
    if (!entry.starts_with('/')) {
      warnings.push_back(
          fmt::format("LLOYD_PLUGIN_PATH: '{}' is ignored; write the folder's full path", entry));
    } else if (!std::filesystem::is_directory(entry, error)) {
      warnings.push_back(
          fmt::format("LLOYD_PLUGIN_PATH: {} is not a folder; correct or remove it", entry));
    }
  }
}

void check_processors(const DoctorReport& report, Warnings& warnings) {
  if (report.allowed_processors < report.cpu.logical) {
    warnings.push_back(fmt::format(
        "this process may run on {} of {} processors; widen its affinity mask (taskset, "
        "cpuset) to use all",
        report.allowed_processors, report.cpu.logical));
  }
  const double cpus = report.cgroup.cpus;
  if (cpus > 0 && cpus < static_cast<double>(report.allowed_processors)) {
    warnings.push_back(fmt::format(
        "the control group's quota is {:.3g} processors of {}, beyond which threads are paused; "
        "raise it, or fit with 'lloyd fit --param threads={:.0f}'",
        cpus, report.allowed_processors, std::ceil(cpus)));
  }
  if (report.cpu.governor.find("powersave") != std::string::npos) {
    warnings.emplace_back(
        "the clock's governor is 'powersave', which blurs times; for measurements use "
        "'performance' "
        "(cpupower frequency-set -g performance)");
  }
  if (report.load > 0.5 * static_cast<double>(report.cpu.logical)) {
    warnings.push_back(
        fmt::format("the load average is {:.1f} on {} processors: other programs are running, and "
                    "times will vary; wait until they have ended",
                    report.load, report.cpu.logical));
  }
}

void check_memory(const DoctorReport& report, Warnings& warnings) {
  if (report.memory.total > 0 && report.memory.available < report.memory.total / 10) {
    warnings.push_back(fmt::format("only {} of {} of memory are available; end other programs",
                                   experiment::format_bytes(report.memory.available),
                                   experiment::format_bytes(report.memory.total)));
  }
}

void check_openmp(const DoctorReport& report, Warnings& warnings) {
  if (report.openmp_runtimes.size() > 1) {
    std::string names;
    for (const machine::OpenmpRuntime& runtime : report.openmp_runtimes) {
      names += (names.empty() ? "" : " and ") + runtime.name;
    }
    warnings.push_back(fmt::format(
        "{} OpenMP runtimes are loaded ({}), each with its own threads; build the plugins with one "
        "compiler, or measure one backend per process",
        report.openmp_runtimes.size(), names));
  }
  for (const auto& [name, value] : report.environment) {
    const long limit = name == "OMP_THREAD_LIMIT" ? std::strtol(value.c_str(), nullptr, 10) : 0;
    if (limit > 0 && limit < report.allowed_processors) {
      warnings.push_back(
          fmt::format("OMP_THREAD_LIMIT={} is below the {} processors that may be used; unset it",
                      value, report.allowed_processors));
    }
    if (name == "LLOYD_PLUGIN_PATH") check_plugin_path(value, warnings);
  }
}

void check_build(const DoctorReport& report, Warnings& warnings) {
  if (!report.build.optimized || report.build.sanitized) {
    warnings.push_back(fmt::format(
        "this is a build {}, whose times and ceilings mean nothing; build with -DCMAKE_BUILD_TYPE="
        "Release",
        report.build.sanitized ? "with sanitizers" : "without optimization"));
  }
  if (!report.ceilings_problem.empty()) {
    warnings.push_back(
        fmt::format("the ceilings could not be measured: {}; --quick leaves them out",
                    report.ceilings_problem));
  }
}

}  // namespace

std::vector<std::string> warnings_of(const DoctorReport& report) {
  Warnings warnings;
  check_plugins(report, warnings);
  check_processors(report, warnings);
  check_memory(report, warnings);
  if (report.gpus.driver_found && !report.gpus.problem.empty()) {
    warnings.push_back(report.gpus.problem + "; 'nvidia-smi' may say more");
  }
  check_openmp(report, warnings);
  check_build(report, warnings);
  return warnings;
}

}  // namespace lloyd::apps
