// Writes records as JSON.

#include <string>

#include <fmt/format.h>

#include "experiment/record/record.hpp"
#include "json/json_or_null.hpp"

namespace lloyd::experiment {

using apps::finite_or_null;
using apps::text_or_null;
using apps::value_or_null;
using nlohmann::ordered_json;

namespace {

// Uses the same keys as an experiment file.
void add_isolation(ordered_json& json, const std::optional<Isolation>& isolation) {
  for (const std::string& key : isolation_keys()) json[key] = nullptr;
  if (!isolation) return;
  json["isolate"] = to_string(isolation->mode);
  json["timeout"] = value_or_null(isolation->timeout);
  json["memory_limit"] = value_or_null(isolation->memory_limit);
  json["cpus"] = text_or_null(format_processors(isolation->cpus));
}

// A trial without measurements has the same keys, all null.
void add_measurements(ordered_json& json, const std::optional<Measurements>& fit) {
  const ordered_json keys = to_json(fit.value_or(Measurements()));
  for (const auto& [key, value] : keys.items()) {
    json[key] = fit ? value : ordered_json(nullptr);
  }
}

}  // namespace

ordered_json to_json(const Record& record) {
  ordered_json axes = ordered_json::object();
  for (const AxisValue& axis : record.axes) axes[axis.path] = axis.value;

  ordered_json json;
  json["schema"] = kRecordSchema;
  json["experiment"] = record.experiment;
  json["run"] = record.run;
  json["setting"] = record.setting;
  json["axes"] = axes;
  json["plan"] = {
      {"setting", record.plan.setting},        {"settings", record.plan.settings},
      {"variant", record.plan.variant},        {"variants", record.plan.variants},
      {"repeats", record.plan.repeats},        {"baseline", text_or_null(record.plan.baseline)},
      {"hash", text_or_null(record.plan.hash)}};
  json["plan"]["until"] = until_json(record.plan.until);
  json["plan"]["order_seed"] = nullptr;
  if (record.plan.order_seed) json["plan"]["order_seed"] = *record.plan.order_seed;
  json["plan"]["checks"] = nullptr;
  if (record.plan.checks) {
    json["plan"]["checks"] = {{"samples", record.plan.checks->samples},
                              {"seconds", record.plan.checks->seconds}};
  }
  json["plan"]["silhouette"] = value_or_null(record.plan.silhouette);
  json["plan"]["counters"] = value_or_null(record.plan.counters);
  json["backend"] = {{"name", record.backend.name},
                     {"label", record.backend.label},
                     {"version", text_or_null(record.backend.version)},
                     {"parameters", record.backend.parameters},
                     {"accuracy", text_or_null(record.backend.accuracy)},
                     {"reproducibility", text_or_null(record.backend.reproducibility)},
                     {"devices", record.backend.devices}};
  json["dataset"] = {{"name", record.dataset.name},
                     {"samples", record.dataset.samples},
                     {"features", record.dataset.features},
                     {"dtype", record.dataset.dtype},
                     {"fingerprint", text_or_null(record.dataset.fingerprint)},
                     {"source", record.dataset.source}};
  json["clusters"] = record.clusters;
  json["seeding"] = {
      {"method", record.seeding.method},
      {"seed", record.seeding.seed},
      {"file", text_or_null(record.seeding.file)},
      {"ms", record.seeding.ms ? finite_or_null(*record.seeding.ms) : ordered_json(nullptr)},
      {"backend", text_or_null(record.seeding.backend)}};
  if (record.seeding.oversampling && record.seeding.rounds) {
    json["seeding"]["oversampling"] = *record.seeding.oversampling;
    json["seeding"]["rounds"] = *record.seeding.rounds;
  }
  json["restarts"] = record.restarts;
  json["stop"] = record.stop;
  json["empty_clusters"] = record.empty_clusters;
  json["profile"] = record.profile;
  json["cold_l2"] = record.cold_l2;
  add_isolation(json, record.isolation);
  json["ranks"] = record.ranks > 0 ? ordered_json(record.ranks) : ordered_json(nullptr);
  json["launcher"] = text_or_null(record.launcher);
  apps::add_rank_times(json, record.rank_times);
  json["repeat"] = record.repeat;
  json["order"] = record.order ? ordered_json(*record.order) : ordered_json(nullptr);
  json["status"] = to_string(record.status);
  json["reason"] = text_or_null(record.reason);
  json["start_ms"] = record.start_ms ? finite_or_null(*record.start_ms) : ordered_json(nullptr);
  if (!record.release_failure.empty()) json["release_failure"] = record.release_failure;
  add_measurements(json, record.fit);
  json["inertia_after_one"] = nullptr;
  json["checked_labels"] = nullptr;
  json["wrong_labels"] = nullptr;
  json["worst_ratio"] = nullptr;
  if (record.after_one) {
    json["inertia_after_one"] = finite_or_null(record.after_one->inertia);
    json["checked_labels"] = record.after_one->labels.samples;
    json["wrong_labels"] = record.after_one->labels.wrong;
    json["worst_ratio"] = finite_or_null(record.after_one->labels.worst_ratio);
  }
  json["memory_bytes"] = nullptr;
  if (record.memory) {
    json["memory_bytes"] = {{"host", record.memory->host_bytes},
                            {"device", record.memory->device_bytes}};
  }
  json["published"] = ordered_json::array();
  for (const Published& published : record.published)
    json["published"].push_back(to_json(published));
  if (record.trace) json["trace"] = to_json(*record.trace);
  json["machine"] = to_json(record.machine);
  json["process"] = record.process ? to_json(*record.process) : ordered_json();
  json["conditions"] = record.conditions ? to_json(*record.conditions) : ordered_json();
  json["time"] = record.time;
  return json;
}

bool is_torn_record(std::string_view line) {
  const std::string beginning = fmt::format(R"({{"schema":{},"experiment":")", kRecordSchema);
  return line.starts_with(beginning) || beginning.starts_with(line) ||
         line.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace lloyd::experiment
