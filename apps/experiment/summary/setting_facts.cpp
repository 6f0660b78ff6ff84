#include "experiment/summary/setting_facts.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/internal/shown.hpp>

namespace lloyd::experiment {
namespace {

constexpr std::size_t kMaxNameBytes = 200;

// The values without the middle of a long list.
template <class T>
std::string distinct_text(const std::vector<T>& values) {
  constexpr std::size_t kMaxListed = 8;
  if (values.size() <= kMaxListed) return fmt::format("{}", fmt::join(values, ", "));
  return fmt::format("{}, {}, ..., {} ({} values)", values[0], values[1], values.back(),
                     values.size());
}

// The distinct values in order.
template <class T>
std::string list_text(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return distinct_text(values);
}

// "standardize = true; restarts = 1, 5": the settings of a data set that differ from their
// defaults in any of `settings`, each preceded by "; ".
std::string changed_text(const std::vector<SettingFacts>& settings) {
  std::string text;
  for (const SettingDefault& setting_default : defaults_of(settings)) {
    std::vector<std::string> values;
    for (const SettingFacts& setting : settings) {
      std::string value = setting_value_text(value_of(setting, setting_default));
      if (std::find(values.begin(), values.end(), value) == values.end()) {
        values.push_back(std::move(value));
      }
    }
    text += fmt::format("; {} = {}", setting_key_text(setting_default.path), distinct_text(values));
  }
  return text;
}

}  // namespace

SettingFacts setting_facts_of(const FitDigest& fit) {
  return {fit.dataset, fit.samples, fit.features, fit.clusters, fit.seed, fit.changed};
}

std::vector<SettingDefault> defaults_of(const std::vector<SettingFacts>& settings) {
  std::vector<SettingDefault> defaults;
  for (const SettingFacts& setting : settings) {
    for (const ChangedSetting& changed : setting.changed) {
      const bool known = std::any_of(defaults.begin(), defaults.end(),
                                     [&](const auto& other) { return other.path == changed.path; });
      if (!known) defaults.push_back({changed.path, changed.default_value});
    }
  }
  return defaults;
}

nlohmann::ordered_json value_of(const SettingFacts& facts, const SettingDefault& setting_default) {
  for (const ChangedSetting& changed : facts.changed) {
    if (changed.path == setting_default.path) return changed.value;
  }
  return setting_default.value;
}

std::string setting_key_text(const std::string& path) {
  if (path == "seeding.method") return "seeding";
  // Short names that would read as something else.
  if (path == "seeding.file" || path == "dataset.seed" || path == "dataset.dataset") return path;
  for (const std::string_view prefix : {"dataset.", "seeding.", "stop."}) {
    if (path.starts_with(prefix)) return path.substr(prefix.size());
  }
  return path;
}

std::string setting_value_text(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "none";
  if (value.is_string()) return shown(value.get<std::string>(), kMaxNameBytes);
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (!value.is_array()) {
    return shown(value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace),
                 kMaxNameBytes);
  }
  std::string text;
  for (const nlohmann::ordered_json& element : value) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", setting_value_text(element));
  }
  return text;
}

std::string facts_text(const SettingFacts& facts, const std::vector<SettingDefault>& stated) {
  std::string text = fmt::format("{}, n = {}, d = {}, k = {}", shown(facts.dataset, kMaxNameBytes),
                                 facts.samples, facts.features, facts.clusters);
  if (facts.seed) text += fmt::format(", seed = {}", *facts.seed);
  for (const SettingDefault& setting_default : stated) {
    text += fmt::format(", {} = {}", setting_key_text(setting_default.path),
                        setting_value_text(value_of(facts, setting_default)));
  }
  return text;
}

std::vector<std::string> facts_lines(const std::vector<SettingFacts>& settings) {
  std::vector<SettingFacts> datasets;  // the first setting of each
  const auto same_data = [](const SettingFacts& a, const SettingFacts& b) {
    return a.dataset == b.dataset && a.samples == b.samples && a.features == b.features;
  };
  for (const SettingFacts& setting : settings) {
    const auto known = std::find_if(datasets.begin(), datasets.end(),
                                    [&](const SettingFacts& d) { return same_data(d, setting); });
    if (known == datasets.end()) datasets.push_back(setting);
  }
  constexpr std::size_t kMaxDatasets = 20;
  std::vector<std::string> lines;
  for (const SettingFacts& dataset : datasets) {
    if (lines.size() == kMaxDatasets) {
      lines.push_back(fmt::format("and {} more data sets", datasets.size() - kMaxDatasets));
      break;
    }
    std::vector<std::int64_t> clusters;
    std::vector<std::uint64_t> seeds;
    std::vector<SettingFacts> own;
    for (const SettingFacts& setting : settings) {
      if (!same_data(dataset, setting)) continue;
      own.push_back(setting);
      clusters.push_back(setting.clusters);
      if (setting.seed) seeds.push_back(*setting.seed);
    }
    std::string line =
        fmt::format("{}: n = {}; d = {}; k = {}", shown(dataset.dataset, kMaxNameBytes),
                    dataset.samples, dataset.features, list_text(std::move(clusters)));
    if (!seeds.empty()) line += fmt::format("; seed = {}", list_text(std::move(seeds)));
    line += changed_text(own);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace lloyd::experiment
