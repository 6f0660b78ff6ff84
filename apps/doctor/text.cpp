#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include <lloyd/internal/status_text.hpp>

#include "doctor/report.hpp"
#include "text/numbers.hpp"

namespace lloyd::apps {
namespace {

using experiment::format_bytes;

constexpr std::size_t kColumns = 120;

// Formats "key  text", wrapped between words.
class Screen {
 public:
  void add(std::string_view key, std::string_view text) {
    constexpr std::size_t kKeyWidth = 13;
    std::string line = fmt::format("{:<{}}", key, kKeyWidth);
    wrap(std::move(line), std::string(kKeyWidth, ' '), text);
  }
  void add_warning(std::string_view text) { wrap("warning: ", "  ", text); }
  const std::string& text() const { return text_; }

 private:
  void wrap(std::string line, const std::string& indent, std::string_view text) {
    std::size_t begin = line.size();  // first column of the words
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(' ', 1), text.size());
      const std::string_view word = text.substr(0, end);  // with the preceding spaces
      if (line.size() > begin && line.size() + word.size() > kColumns) {
        text_ += line + '\n';
        line = indent;
        begin = line.size();
        line += word.substr(word.front() == ' ' ? 1 : 0);
      } else {
        line += word;
      }
      text.remove_prefix(end);
    }
    while (line.ends_with(' ')) line.pop_back();
    text_ += line + '\n';
  }

  std::string text_;
};

std::string cores_text(const DoctorReport& report) {
  std::string text;
  if (report.cpu.physical > 0) {
    text += format_count(report.cpu.physical, "physical core") + ", ";
  }
  text += fmt::format("{} logical, {} allowed to this process", report.cpu.logical,
                      report.allowed_processors);
  if (report.cgroup.cpus > 0) text += fmt::format(", quota {:.3g}", report.cgroup.cpus);
  for (const machine::CoreKind& kind : report.cpu.kinds) {
    text += fmt::format(", {} {}", kind.processors, kind.name);
  }
  if (report.cpu.sockets > 1) text += fmt::format(", {} sockets", report.cpu.sockets);
  if (!report.cpu.governor.empty()) text += ", governor " + report.cpu.governor;
  if (report.cpu.boost) text += *report.cpu.boost ? ", boost on" : ", boost off";
  return text;
}

// Abbreviates a common prefix: AVX-512F AVX-512BW -> AVX-512F/BW.
std::string features_text(const std::vector<std::string>& features) {
  constexpr std::string_view kFamily = "AVX-512";
  std::string text;
  bool in_family = false;
  for (const std::string& feature : features) {
    const bool member = feature.starts_with(kFamily);
    if (member && in_family) {
      text += fmt::format("/{}", feature.substr(kFamily.size()));
    } else {
      text += (text.empty() ? "" : " ") + feature;
    }
    in_family = member;
  }
  return text.empty() ? "none of those looked for" : text;
}

std::string caches_text(const std::vector<machine::Cache>& caches) {
  std::string text;
  for (const machine::Cache& cache : caches) {
    text += fmt::format("{}L{}{} {}", text.empty() ? "" : ", ", cache.level,
                        cache.type == "Data" ? "d" : "", format_bytes(cache.size_bytes));
    if (cache.instances > 1) text += fmt::format(" x {}", cache.instances);
    if (cache.shared_by > 1) text += fmt::format(" shared by {}", cache.shared_by);
  }
  return text.empty() ? "not known" : text;
}

std::string memory_text(const DoctorReport& report) {
  if (report.memory.total == 0) return "not known";
  return fmt::format("{}, {} available, {}", format_bytes(report.memory.total),
                     format_bytes(report.memory.available),
                     report.cgroup.memory_bytes > 0
                         ? "control group's limit " + format_bytes(report.cgroup.memory_bytes)
                         : "no limit by a control group");
}

void add_ceilings(const DoctorReport& report, Screen& screen) {
  if (!report.ceilings.has_value()) {
    screen.add("measured", report.ceilings_problem.empty() ? "nothing (--quick)" : "nothing");
    return;
  }
  const machine::Ceilings& ceilings = *report.ceilings;
  const auto row = [](std::string_view what, const machine::Rate& rate, std::string_view unit) {
    return fmt::format("{:<20}{:>10}{:>13} {}", what, experiment::format_number(rate.one_thread),
                       experiment::format_number(rate.all_threads), unit);
  };
  screen.add("measured", fmt::format("{:<20}{:>10}{:>13}", "", "1 thread",
                                     format_count(ceilings.threads, "thread")));
  screen.add("", row(fmt::format("FP32 FMA, {}", ceilings.instruction_set), ceilings.float32_gflops,
                     "GFLOP/s"));
  screen.add("", row(fmt::format("FP64 FMA, {}", ceilings.instruction_set), ceilings.float64_gflops,
                     "GFLOP/s"));
  screen.add("", row("memory read", ceilings.read_gbs, "GB/s"));
  screen.add("", row("memory triad", ceilings.triad_gbs, "GB/s"));
}

void add_gpus(const machine::Gpus& gpus, Screen& screen) {
  if (!gpus.problem.empty()) screen.add("GPU", gpus.problem);
  if (gpus.driver_found && gpus.problem.empty() && gpus.list.empty()) screen.add("GPU", "none");
  // Description of a GPU, and the number of equal ones.
  std::vector<std::pair<std::string, int>> kinds;
  for (const machine::Gpu& gpu : gpus.list) {
    const std::string text = fmt::format("{}, {}, compute capability {}", gpu.name,
                                         format_bytes(gpu.memory_bytes), gpu.compute_capability);
    const auto known = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const auto& kind) { return kind.first == text; });
    if (known == kinds.end()) {
      kinds.emplace_back(text, 1);
    } else {
      ++known->second;
    }
  }
  for (const auto& [text, count] : kinds) {
    screen.add("GPU", count > 1 ? fmt::format("{} x {}", count, text) : text);
  }
  if (!gpus.driver.empty()) {
    screen.add("", fmt::format("driver {}, CUDA up to {}", gpus.driver, gpus.cuda));
  }
}

void add_plugins(const DoctorReport& report, Screen& screen) {
  std::map<std::string, std::vector<const PluginReport*>> folders;
  std::size_t width = 0;
  for (const PluginReport& plugin : report.plugins) {
    folders[std::filesystem::path(plugin.file).parent_path().string()].push_back(&plugin);
    width = std::max(width, plugin.name.size());
  }
  if (folders.empty()) screen.add("plugins", "none");
  for (const auto& [folder, plugins] : folders) {
    screen.add("plugins", folder);
    for (const PluginReport* plugin : plugins) {
      screen.add(
          "",
          fmt::format("{:<{}}  {}, ABI {}, {}", plugin->name, width, plugin->version, plugin->abi,
                      plugin->unavailable.empty() ? "available: " + printable(plugin->summary)
                                                  : "not available: " + plugin->unavailable));
    }
  }
}

}  // namespace

std::string doctor_text(const DoctorReport& report) {
  Screen screen;
  screen.add("Lloyd", fmt::format("{}{}, {}, {}: {}", report.build.version,
                                  report.build.commit.empty() ? "" : " " + report.build.commit,
                                  report.build.compiler, report.build.type, report.build.flags));
  screen.add("system",
             report.load < 0 ? report.os : fmt::format("{}, load {:.2f}", report.os, report.load));
  screen.add("CPU", report.cpu.model.empty() ? "not known" : report.cpu.model);
  screen.add("", features_text(report.cpu.features));
  screen.add("cores", cores_text(report));
  screen.add("caches", caches_text(report.caches));
  screen.add("memory", memory_text(report));
  add_ceilings(report, screen);
  add_gpus(report.gpus, screen);
  if (report.openmp_runtimes.empty()) screen.add("OpenMP", "no runtime is loaded");
  for (const machine::OpenmpRuntime& runtime : report.openmp_runtimes) {
    screen.add("OpenMP", fmt::format("{}: {}", runtime.name, runtime.path));
  }
  screen.add("HDF5", report.hdf5.problem.empty()
                         ? fmt::format("{}: {}", report.hdf5.version, report.hdf5.file)
                         : report.hdf5.problem);
  std::string environment;
  for (const auto& [name, value] : report.environment) {
    environment += fmt::format("{}{}={}", environment.empty() ? "" : "  ", name, value);
  }
  screen.add("environment", environment.empty() ? "nothing that Lloyd depends on" : environment);
  add_plugins(report, screen);
  for (const std::string& warning : warnings_of(report)) screen.add_warning(warning);
  return screen.text();
}

}  // namespace lloyd::apps
