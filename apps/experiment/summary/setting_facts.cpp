#include "experiment/summary/setting_facts.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/internal/shown.hpp>

namespace lloyd::experiment {
namespace {

constexpr std::size_t kMaxNameBytes = 200;

// The distinct values in order, without the middle of a long list.
template <class T>
std::string list_text(std::vector<T> values) {
  constexpr std::size_t kMaxListed = 8;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() <= kMaxListed) return fmt::format("{}", fmt::join(values, ", "));
  return fmt::format("{}, {}, ..., {} ({} values)", values[0], values[1], values.back(),
                     values.size());
}

}  // namespace

std::string facts_text(const SettingFacts& facts) {
  std::string text = fmt::format("{}, n = {}, d = {}, k = {}", shown(facts.dataset, kMaxNameBytes),
                                 facts.samples, facts.features, facts.clusters);
  if (facts.seed) text += fmt::format(", seed = {}", *facts.seed);
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
    for (const SettingFacts& setting : settings) {
      if (!same_data(dataset, setting)) continue;
      clusters.push_back(setting.clusters);
      if (setting.seed) seeds.push_back(*setting.seed);
    }
    std::string line =
        fmt::format("{}: n = {}; d = {}; k = {}", shown(dataset.dataset, kMaxNameBytes),
                    dataset.samples, dataset.features, list_text(std::move(clusters)));
    if (!seeds.empty()) line += fmt::format("; seed = {}", list_text(std::move(seeds)));
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace lloyd::experiment
