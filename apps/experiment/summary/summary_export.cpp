// The summary as CSV and as JSON, with the same rows and names.
#include <charconv>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

#include "experiment/plan/varying_axes.hpp"
#include "experiment/statistics/statistics.hpp"
#include "experiment/summary/noise.hpp"
#include "experiment/summary/summary.hpp"
#include "json/json_or_null.hpp"
#include "text/csv_text.hpp"

namespace lloyd::experiment {

using apps::finite_or_null;
using apps::text_or_null;
using nlohmann::ordered_json;

namespace {

void add_phases(ordered_json& json, const std::optional<PhaseSummary>& phases) {
  const auto add = [&](const char* key, double PhaseSummary::*member) {
    json[key] = phases ? finite_or_null((*phases).*member) : ordered_json(nullptr);
  };
  add("transfer_ms_per_iteration", &PhaseSummary::transfer_ms);
  add("transfer_percent", &PhaseSummary::transfer_percent);
  add("assignment_ms_per_iteration", &PhaseSummary::assignment_ms);
  add("assignment_percent", &PhaseSummary::assignment_percent);
  add("update_ms_per_iteration", &PhaseSummary::update_ms);
  add("update_percent", &PhaseSummary::update_percent);
  add("overhead_ms", &PhaseSummary::overhead_ms);
  add("overhead_percent", &PhaseSummary::overhead_percent);
}

void add_counters(ordered_json& json, const std::optional<CounterSummary>& counters) {
  const CounterSummary counts = counters.value_or(CounterSummary());
  json["cycles"] = finite_or_null(counts.cycles);
  json["instructions"] = finite_or_null(counts.instructions);
  json["cache_misses"] = finite_or_null(counts.cache_misses);
}

// Adds a value and its source for each quantity published in any row.
void add_published(ordered_json& json, const Summary& summary, const SummaryRow& row) {
  for (const Quantity* quantity : published_quantities(summary)) {
    const Published* published = find_published(row, quantity->name);
    const std::string key = fmt::format("published_{}", quantity->name);
    json[key] = published == nullptr ? ordered_json(nullptr) : to_json(*published)["value"];
    json[key + "_source"] = published == nullptr ? nullptr : text_or_null(published->source);
  }
}

// The unit of the times that a row's speedup compares.
const char* compared_unit(const Summary& summary, const SummaryRow& row) {
  return summary.per_iteration && !row.compared_by_fits ? "iteration" : "fit";
}

// `defaults`: the settings that any row changes, see defaults_of().
ordered_json row_json(const std::vector<VaryingAxis>& axes,
                      const std::vector<SettingDefault>& defaults, const Summary& summary,
                      const SummaryRow& row) {
  const std::string unit = summary.per_iteration ? "ms_per_iteration" : "ms_per_fit";
  const bool measured = row.ok > 0;
  const auto number = [&](double value) {
    return measured ? finite_or_null(value) : ordered_json(nullptr);
  };
  const auto count = [&](std::int64_t value) {
    return measured ? ordered_json(value) : ordered_json(nullptr);
  };
  ordered_json json;
  json["setting"] = row.setting;
  for (const VaryingAxis& axis : axes) {
    json[axis.path] = row.axes[axis.index].value;
  }
  json["backend"] = row.backend;
  json["accuracy"] = text_or_null(row.accuracy);
  if (has_ranks(summary)) {
    json["ranks"] = row.ranks > 0 ? ordered_json(row.ranks) : ordered_json(nullptr);
  }
  json["trials"] = row.ok;
  json[unit] = number(row.time_ms.median);
  json[unit + "_low"] = number(row.time_ms.low);
  json[unit + "_high"] = number(row.time_ms.high);
  if (summary.per_iteration) {
    json["ms_per_fit"] = number(median(values_of(row.fit_timings)));
    json["fewer_distances"] = measured ? ordered_json(row.fewer_distances) : ordered_json(nullptr);
  }
  const auto add_fact = [&](const char* key, const ordered_json& value) {
    if (!json.contains(key)) json[key] = value;  // unless it is an axis
  };
  add_fact("restarts", row.restarts);
  add_fact("dataset", row.facts.dataset);
  add_fact("samples", row.facts.samples);
  add_fact("features", row.facts.features);
  add_fact("clusters", row.facts.clusters);
  add_fact("seed", row.facts.seed ? ordered_json(*row.facts.seed) : ordered_json(nullptr));
  for (const SettingDefault& setting_default : defaults)
    add_fact(setting_default.path.c_str(), value_of(row.facts, setting_default));
  json["spread"] = number(row.spread);
  json["outliers"] = count(row.outliers);
  json["fewest_iterations"] = count(row.fewest_iterations);
  json["most_iterations"] = count(row.most_iterations);
  json["inertia"] = number(row.quality.final_inertia);
  json["inertia_after_one"] = number(row.quality.inertia_after_one);
  json["checked_labels"] = count(row.quality.checked_labels.value_or(row.quality.samples));
  json["wrong_labels"] = count(row.quality.wrong_labels);
  json["adjusted_rand_index"] = number(row.adjusted_rand_index);
  json["simplified_silhouette"] = number(row.simplified_silhouette);
  json["gflop_per_s"] = row.rates ? finite_or_null(row.rates->gflop_per_s) : ordered_json(nullptr);
  json["gb_per_s"] = row.rates ? finite_or_null(row.rates->gb_per_s) : ordered_json(nullptr);
  if (has_phases(summary)) add_phases(json, row.phases);
  if (has_counters(summary)) add_counters(json, row.counters);
  if (!summary.baseline.empty()) {
    const bool said = row.comparison && row.comparison->speedup;
    const auto speedup = [&](double MedianInterval::*part) {
      return said ? finite_or_null((*row.comparison->speedup).*part) : ordered_json(nullptr);
    };
    json["speedup"] = speedup(&MedianInterval::median);
    json["speedup_low"] = speedup(&MedianInterval::low);
    json["speedup_high"] = speedup(&MedianInterval::high);
    json["speedup_of"] = nullptr;
    if (said) json["speedup_of"] = compared_unit(summary, row);
    json["comparison"] = speedup_text(row);
  }
  add_published(json, summary, row);
  json["problem"] = row.problem;
  return json;
}

// The value of an axis: a number if the text is one.
ordered_json axis_json(const std::string& text) {
  ordered_json json = ordered_json::parse(text, nullptr, false);
  if (json.is_number()) return json;
  double value = 0;  // JSON has no numbers such as .5
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool is_number = error == std::errc() && stop == end && std::isfinite(value);
  return is_number ? ordered_json(value) : ordered_json(text);
}

std::vector<ordered_json> rows_json(const Summary& summary) {
  const std::vector<VaryingAxis> axes = varying_axes_of(summary);
  std::vector<SettingFacts> settings;
  for (const SummaryRow& row : summary.rows) settings.push_back(row.facts);
  const std::vector<SettingDefault> defaults = defaults_of(settings);
  std::vector<ordered_json> rows;
  for (const SummaryRow& row : summary.rows) {
    rows.push_back(row_json(axes, defaults, summary, row));
  }
  return rows;
}

}  // namespace

std::string summary_csv(const Summary& summary) {
  return csv_text(rows_json(summary));
}

ordered_json summary_json(const Summary& summary, const std::filesystem::path& output) {
  ordered_json notes = ordered_json::array();
  for (const Published& source : sources_of(summary)) {
    ordered_json json = to_json(source);
    json.erase("value");
    notes.push_back(json);
  }
  ordered_json json;
  json["experiment"] = summary.experiment;
  json["output"] = output.string();
  json["baseline"] = text_or_null(summary.baseline);
  json["unit"] = summary.per_iteration ? "ms_per_iteration" : "ms_per_fit";
  json["fewer_distances"] = text_or_null(mark_note(summary));
  json["noise"] = text_or_null(noise_text(summary));
  json["published"] = notes;
  json["rows"] = rows_json(summary);
  for (const VaryingAxis& axis : varying_axes_of(summary)) {
    for (ordered_json& row : json["rows"]) {
      ordered_json& value = row[axis.path];
      if (value.is_string()) value = axis_json(value.get<std::string>());
    }
  }
  return json;
}

}  // namespace lloyd::experiment
