#include "machine/processors/cpu.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace lloyd::machine {
namespace {

constexpr std::string_view kFolder = "/sys/devices/system/cpu";

struct FeatureName {
  std::string_view flag;  // in /proc/cpuinfo
  std::string_view name;
};
constexpr FeatureName kFeatures[] = {{"sse4_2", "SSE4.2"},
                                     {"avx2", "AVX2"},
                                     {"fma", "FMA"},
                                     {"avx512f", "AVX-512F"},
                                     {"avx512bw", "AVX-512BW"},
                                     {"avx512_vnni", "AVX-512VNNI"},
                                     {"avx512_bf16", "AVX-512BF16"},
                                     {"avx_vnni", "AVX-VNNI"},
                                     {"asimd", "NEON"},
                                     {"sve", "SVE"},
                                     {"sve2", "SVE2"},
                                     {"bf16", "BF16"}};

std::vector<std::string> features_of(const std::string& cpuinfo) {
  std::string flags = field_of(cpuinfo, "flags");            // x86
  if (flags.empty()) flags = field_of(cpuinfo, "Features");  // ARM
  std::vector<std::string> features;
  for (const FeatureName& feature : kFeatures) {
    if (has_word(flags, feature.flag)) features.emplace_back(feature.name);
  }
  return features;
}

std::vector<std::string> online_processors(const SystemFiles& files) {
  std::vector<std::string> names;
  for (const int processor : processors_of(files.text(fmt::format("{}/online", kFolder)))) {
    names.push_back(fmt::format("cpu{}", processor));
  }
  return names.empty() ? files.numbered(kFolder, "cpu") : names;
}

std::string siblings_of(const SystemFiles& files, std::string_view processor) {
  const std::string topology = fmt::format("{}/{}/topology/", kFolder, processor);
  const std::string siblings = files.text(topology + "core_cpus_list");
  // Linux before 5.3 has only thread_siblings_list.
  return siblings.empty() ? files.text(topology + "thread_siblings_list") : siblings;
}

// Counts distinct sibling lists: processors of one core have the same.
std::int64_t count_cores(const SystemFiles& files, const std::vector<std::string>& processors) {
  std::set<std::string> cores;
  for (const std::string& processor : processors) {
    std::string siblings = siblings_of(files, processor);
    if (siblings.empty()) return 0;
    cores.insert(std::move(siblings));
  }
  return static_cast<std::int64_t>(cores.size());
}

std::vector<CoreKind> kinds_of(const SystemFiles& files,
                               const std::vector<std::string>& processors) {
  std::vector<CoreKind> kinds;
  // On Intel's hybrid processors, each kind has its own performance monitoring unit.
  for (const auto& [unit, name] :
       {std::pair{"cpu_core", "performance"}, std::pair{"cpu_atom", "efficiency"},
        std::pair{"cpu_lowpower", "low-power"}}) {
    const auto members = processors_of(files.text(fmt::format("/sys/devices/{}/cpus", unit)));
    if (!members.empty()) kinds.push_back({name, static_cast<std::int64_t>(members.size())});
  }
  if (kinds.empty()) {
    std::map<std::int64_t, std::int64_t, std::greater<>> capacities;
    for (const std::string& processor : processors) {
      const auto capacity =
          number_of(files.text(fmt::format("{}/{}/cpu_capacity", kFolder, processor)));
      if (capacity >= 0) ++capacities[capacity];
    }
    for (const auto& [capacity, count] : capacities) {
      kinds.push_back({fmt::format("capacity {}", capacity), count});
    }
  }
  if (kinds.size() < 2) kinds.clear();
  return kinds;
}

std::string governor_of(const SystemFiles& files, const std::vector<std::string>& processors) {
  std::set<std::string> governors;
  for (const std::string& processor : processors) {
    governors.insert(files.text(fmt::format("{}/{}/cpufreq/scaling_governor", kFolder, processor)));
  }
  governors.erase("");
  std::string text;
  for (const std::string& governor : governors) text += (text.empty() ? "" : ", ") + governor;
  return text;
}

std::int64_t count_sockets(const SystemFiles& files, const std::vector<std::string>& processors) {
  std::set<std::string> packages;
  for (const std::string& processor : processors) {
    packages.insert(
        files.text(fmt::format("{}/{}/topology/physical_package_id", kFolder, processor)));
  }
  packages.erase("");
  return static_cast<std::int64_t>(packages.size());
}

// acpi-cpufreq, amd-pstate and others provide "boost"; intel_pstate provides the inverse.
std::optional<bool> boost_of(const SystemFiles& files) {
  const std::string boost = files.text(fmt::format("{}/cpufreq/boost", kFolder));
  if (!boost.empty()) return boost != "0";
  const std::string no_turbo = files.text(fmt::format("{}/intel_pstate/no_turbo", kFolder));
  if (!no_turbo.empty()) return no_turbo == "0";
  return std::nullopt;
}

std::string model_of(const std::string& cpuinfo) {
  // x86 has "model name"; some ARM systems have "Model", others only numbers.
  for (const char* key : {"model name", "Model"}) {
    std::string model = field_of(cpuinfo, key);
    if (!model.empty()) return model;
  }
  const std::string part = field_of(cpuinfo, "CPU part");
  if (part.empty()) return {};
  return fmt::format("implementer {}, part {}", field_of(cpuinfo, "CPU implementer"), part);
}

}  // namespace

std::string read_cpu_model(const SystemFiles& files) {
  return model_of(files.text("/proc/cpuinfo"));
}

Cpu read_cpu(const SystemFiles& files) {
  const std::string cpuinfo = files.text("/proc/cpuinfo");
  const std::vector<std::string> processors = online_processors(files);
  Cpu cpu;
  cpu.model = model_of(cpuinfo);
  cpu.features = features_of(cpuinfo);
  cpu.logical = static_cast<std::int64_t>(processors.size());
  if (processors.empty()) {
    for (const std::string_view line : lines_of(cpuinfo)) {
      cpu.logical += line.starts_with("processor") ? 1 : 0;
    }
  }
  cpu.physical = count_cores(files, processors);
  cpu.sockets = count_sockets(files, processors);
  cpu.boost = boost_of(files);
  cpu.kinds = kinds_of(files, processors);
  cpu.governor = governor_of(files, processors);
  return cpu;
}

std::vector<int> fastest_processors(const std::vector<int>& processors, const SystemFiles& files) {
  const std::vector<int> performance = processors_of(files.text("/sys/devices/cpu_core/cpus"));
  std::map<std::int64_t, std::vector<int>> by_speed;
  for (const int processor : processors) {
    const std::int64_t speed =
        performance.empty()
            ? number_of(files.text(fmt::format("{}/cpu{}/cpu_capacity", kFolder, processor)))
            : std::count(performance.begin(), performance.end(), processor);
    by_speed[speed].push_back(processor);
  }
  return by_speed.empty() ? processors : by_speed.rbegin()->second;
}

std::vector<int> processors_of_core(int processor, const SystemFiles& files) {
  std::vector<int> siblings = processors_of(siblings_of(files, fmt::format("cpu{}", processor)));
  if (siblings.empty()) siblings.push_back(processor);
  return siblings;
}

double highest_clock_mhz(const std::vector<int>& processors, const SystemFiles& files) {
  constexpr std::size_t kMax = 64;
  const std::size_t step = (processors.size() + kMax - 1) / kMax;
  double highest = 0;
  for (std::size_t i = 0; i < processors.size(); i += step) {
    const std::int64_t khz = number_of(
        files.text(fmt::format("{}/cpu{}/cpufreq/scaling_cur_freq", kFolder, processors[i])));
    highest = std::max(highest, static_cast<double>(khz) / 1e3);
  }
  if (highest > 0) return highest;
  // Virtual machines have no cpufreq, but /proc/cpuinfo may have "processor : 0" and later
  // "cpu MHz : 2596.122" for each processor.
  const std::string cpuinfo = files.text("/proc/cpuinfo");
  bool is_asked = false;  // the processor of the current lines is among `processors`
  for (const std::string_view line : lines_of(cpuinfo)) {
    if (line.starts_with("processor")) {
      const std::int64_t number = number_of(field_of(line, "processor"));
      is_asked = std::find(processors.begin(), processors.end(), number) != processors.end();
    }
    if (!is_asked || !line.starts_with("cpu MHz")) continue;
    const std::int64_t mhz = number_of(field_of(line, "cpu MHz"));
    highest = std::max(highest, static_cast<double>(mhz));
  }
  return highest;
}

}  // namespace lloyd::machine
