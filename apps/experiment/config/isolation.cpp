#include "experiment/config/isolation.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/suggestion.hpp>

#include "text/whole_number.hpp"

namespace lloyd::experiment {
namespace {

const std::vector<std::string> kModes = {"worker", "trial", "none"};

bool take_processor(std::string_view& text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool read = error == std::errc() && value >= 0 && value < CPU_SETSIZE;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return read;
}

std::vector<int> read_cpus(const ConfigNode& node) {
  std::set<int> cpus;
  if (node.is_sequence()) {
    for (const ConfigNode& cpu : node.children) {
      cpus.insert(static_cast<int>(read_integer(cpu, "cpus", 0, CPU_SETSIZE - 1)));
    }
  } else if (node.is_scalar()) {
    const std::vector<int> listed = parse_processors(node.text);
    cpus.insert(listed.begin(), listed.end());
  }
  if (cpus.empty()) {
    node.fail(
        fmt::format("'cpus' must be a list of processor numbers or a text such as 0-3,8, not "
                    "{}",
                    node.is_sequence() ? "an empty one" : node.kind_text()));
  }
  return {cpus.begin(), cpus.end()};
}

double read_timeout(const ConfigNode& node) {
  constexpr double kMax = 1e9;  // seconds; keeps a deadline far from overflow
  const std::optional<double> seconds = find_number(node);
  if (seconds && *seconds > 0 && *seconds <= kMax) return *seconds;
  node.fail(fmt::format("'timeout' must be a number above 0, in seconds, at most {:g}, not {}",
                        kMax, node.kind_text()));
}

std::int64_t read_memory_limit(const ConfigNode& node) {
  if (node.is_scalar()) {
    if (const auto bytes = apps::parse_bytes(node.text)) return *bytes;
  }
  node.fail(fmt::format(
      "'memory_limit' must be a number of bytes, such as 4GiB, 500MB or 1048576, not {}",
      node.kind_text()));
}

}  // namespace

std::string_view to_string(IsolateMode mode) {
  return kModes[static_cast<std::size_t>(mode)];
}

IsolateMode parse_isolate_mode(std::string_view name) {
  const auto found = std::find(kModes.begin(), kModes.end(), name);
  if (found == kModes.end()) {
    throw InputError(fmt::format("unknown isolation '{}'{}", name, suggestion(name, kModes)));
  }
  return static_cast<IsolateMode>(found - kModes.begin());
}

const std::vector<std::string>& isolation_keys() {
  static const std::vector<std::string> keys = {"isolate", "timeout", "memory_limit", "cpus"};
  return keys;
}

Isolation read_isolation(const MapReader& map) {
  Isolation isolation;
  if (const ConfigNode* mode = map.find("isolate")) {
    isolation.mode = static_cast<IsolateMode>(read_choice(*mode, "isolate", kModes));
  }
  if (const ConfigNode* timeout = map.find("timeout")) isolation.timeout = read_timeout(*timeout);
  if (const ConfigNode* limit = map.find("memory_limit")) {
    isolation.memory_limit = read_memory_limit(*limit);
  }
  if (const ConfigNode* cpus = map.find("cpus")) {
    isolation.cpus = read_cpus(*cpus);
    isolation.cpus_place = cpus->place;
  }
  if (isolation.mode != IsolateMode::none) return isolation;
  for (const std::string& key : isolation_keys()) {
    const ConfigNode* limit = key == "isolate" ? nullptr : map.find(key);
    if (limit == nullptr) continue;
    limit->fail_at_key(
        fmt::format("'{}' needs 'isolate: worker' or 'isolate: trial', not 'none'", key));
  }
  return isolation;
}

void check_processors(const Isolation& isolation, const std::vector<int>& allowed) {
  for (const int cpu : isolation.cpus) {
    if (std::find(allowed.begin(), allowed.end(), cpu) != allowed.end()) continue;
    isolation.cpus_place.fail(fmt::format("'cpus' names processor {}, but this process may use {}",
                                          cpu, format_processors(allowed)));
  }
}

std::string format_processors(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == first ? fmt::format("{}", cpus[first])
                          : fmt::format("{}-{}", cpus[first], cpus[last]);
    first = last + 1;
  }
  return text;
}

std::vector<int> parse_processors(std::string_view text) {
  std::set<int> cpus;
  while (true) {
    int first = 0;
    if (!take_processor(text, first)) return {};
    int last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      if (!take_processor(text, last) || last < first) return {};
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.insert(cpu);
    if (text.empty()) return {cpus.begin(), cpus.end()};
    if (!text.starts_with(',')) return {};
    text.remove_prefix(1);
  }
}

}  // namespace lloyd::experiment
