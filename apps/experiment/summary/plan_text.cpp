#include "experiment/summary/plan_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "experiment/plan/varying_axes.hpp"
#include "experiment/record/record.hpp"
#include "text/names.hpp"
#include "text/numbers.hpp"
#include "text/table.hpp"

namespace lloyd::experiment {

using nlohmann::ordered_json;

namespace {

MemoryEstimate peak_memory(const Plan& plan) {
  MemoryEstimate peak;
  for (const PlannedFit& fit : plan.fits) {
    if (!fit.memory) continue;
    peak.host_bytes = std::max(peak.host_bytes, fit.memory->host_bytes);
    peak.device_bytes = std::max(peak.device_bytes, fit.memory->device_bytes);
  }
  return peak;
}

std::string dataset_text(const DatasetFacts& dataset) {
  return fmt::format("{} {} x {} {}", dataset.name, dataset.samples, dataset.features,
                     apps::to_string(dataset.dtype));
}

std::string isolation_text(const Isolation& isolation) {
  std::string text = "isolation: none, all trials in this process";
  if (isolation.mode == IsolateMode::worker)
    text = "isolation: a worker process for each backend variant";
  if (isolation.mode == IsolateMode::trial) text = "isolation: a process for each trial";
  if (isolation.timeout) text += fmt::format(", timeout {:g} s", *isolation.timeout);
  if (isolation.memory_limit) {
    text += fmt::format(", memory limit {}", format_bytes(*isolation.memory_limit));
  }
  if (!isolation.cpus.empty()) text += ", processors " + format_processors(isolation.cpus);
  return text + '\n';
}

bool one_dataset(const Plan& plan) {
  return std::all_of(plan.settings.begin(), plan.settings.end(), [&](const PlannedSetting& other) {
    return dataset_text(other.dataset) == dataset_text(plan.settings.front().dataset);
  });
}

}  // namespace

std::string plan_text(const Plan& plan, std::size_t width) {
  const MemoryEstimate peak = peak_memory(plan);
  const bool one = one_dataset(plan);
  // The number of rounds after the repeats is known only at run time.
  const char* at_least = plan.until ? "at least " : "";
  std::string text = fmt::format(
      "{}: {} x {} x {}{} = {}{}\n", plan.experiment,
      format_count(static_cast<std::int64_t>(plan.settings.size()), "setting"),
      format_count(static_cast<std::int64_t>(plan.variants.size()), "backend variant"), at_least,
      format_count(plan.repeats, "repeat"), at_least,
      format_count(static_cast<std::int64_t>(plan.fits.size()) * plan.repeats, "trial"));
  if (plan.until) {
    text += fmt::format("until: every interval within {}% of its median, or {} of a setting\n",
                        format_number(100 * plan.until->relative_error),
                        format_seconds(plan.until->max_seconds));
  }
  if (plan.skipped() > 0) {
    text += fmt::format("skipped: {}\n", format_count(plan.skipped() * plan.repeats, "trial"));
  }
  if (one) {
    text += fmt::format("data set: {}\n", dataset_text(plan.settings.front().dataset));
  }
  if (plan.baseline) text += fmt::format("baseline: {}\n", plan.variants[*plan.baseline].label);
  text += isolation_text(plan.isolation);
  text += fmt::format("peak memory: {} host, {} device\n", format_bytes(peak.host_bytes),
                      format_bytes(peak.device_bytes));
  text += fmt::format("records: {}\n\n", (plan.output / "records.jsonl").string());

  std::vector<std::vector<AxisValue>> settings;
  for (const PlannedSetting& planned : plan.settings) settings.push_back(planned.setting.axes);
  const std::vector<VaryingAxis> axes = varying_axes(settings);
  std::vector<Table::Column> columns;
  if (!one) columns.push_back({"data set", false});
  for (const VaryingAxis& axis : axes) columns.push_back({axis.header, true});
  columns.push_back({"backend", false});
  for (const char* header : {"trials", "host", "device"}) columns.push_back({header, true});
  Table table(std::move(columns));
  for (const PlannedFit& fit : plan.fits) {
    const PlannedSetting& planned = plan.settings[fit.setting];
    std::vector<std::string> cells;
    if (!one) cells.push_back(dataset_text(planned.dataset));
    for (const VaryingAxis& axis : axes)
      cells.push_back(axis.text(planned.setting.axes[axis.index].value));
    cells.push_back(plan.variants[fit.variant].label);
    if (!fit.skip.empty()) {
      table.add(std::move(cells),
                fmt::format("{}: {}", fit.failed ? "failed" : "skipped", fit.skip));
      continue;
    }
    cells.push_back(fmt::format("{}{}", plan.until ? ">= " : "", plan.repeats));
    cells.push_back(format_bytes(fit.memory->host_bytes));
    cells.push_back(format_bytes(fit.memory->device_bytes));
    table.add(std::move(cells));
  }
  return text + table.str(width);
}

ordered_json plan_json(const Plan& plan) {
  const MemoryEstimate peak = peak_memory(plan);
  ordered_json fits = ordered_json::array();
  for (const PlannedFit& fit : plan.fits) {
    const PlannedSetting& planned = plan.settings[fit.setting];
    ordered_json axes = ordered_json::object();
    for (const AxisValue& axis : planned.setting.axes) axes[axis.path] = axis.value;
    ordered_json json;
    json["setting"] = planned.hash;
    json["axes"] = axes;
    json["dataset"] = {{"name", planned.dataset.name},
                       {"samples", planned.dataset.samples},
                       {"features", planned.dataset.features},
                       {"dtype", apps::to_string(planned.dataset.dtype)}};
    json["clusters"] = planned.setting.options.clusters;
    json["backend"] = plan.variants[fit.variant].label;
    json["skip"] = fit.skip.empty() ? ordered_json(nullptr) : ordered_json(fit.skip);
    json["memory_bytes"] = nullptr;
    if (fit.memory) {
      json["memory_bytes"] = {{"host", fit.memory->host_bytes},
                              {"device", fit.memory->device_bytes}};
    }
    json["published"] = ordered_json::array();
    for (const Published& published : fit.published)
      json["published"].push_back(to_json(published));
    fits.push_back(json);
  }
  ordered_json json;
  json["experiment"] = plan.experiment;
  json["output"] = plan.output.string();
  json["repeats"] = plan.repeats;
  json["until"] = until_json(plan.until);
  json["order_seed"] = plan.order_seed;
  json["isolate"] = to_string(plan.isolation.mode);
  json["trials"] = plan.trials();
  json["skipped"] = plan.skipped() * plan.repeats;
  json["peak_memory_bytes"] = {{"host", peak.host_bytes}, {"device", peak.device_bytes}};
  json["fits"] = fits;
  return json;
}

}  // namespace lloyd::experiment
