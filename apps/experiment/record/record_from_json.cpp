// Reads records from JSON: requires every key, with its type and range.

#include <cmath>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/json_fields.hpp>

#include "experiment/record/record.hpp"
#include "text/names.hpp"

namespace lloyd::experiment {

using nlohmann::ordered_json;

namespace {

constexpr std::int64_t kMaxCount = 1'000'000'000;  // keeps products far from overflow

Until read_until(const JsonFields& json) {
  return {json.number("relative_error", 0), json.number("max_seconds", 0)};
}

Checks read_checks_of_plan(const JsonFields& json) {
  return {json.integer("samples", 0), json.number("seconds", 0)};
}

void read_place(const JsonFields& json, Record& record) {
  record.plan.settings = json.integer("settings", 1, kMaxCount);
  record.plan.setting = json.integer("setting", 0, record.plan.settings - 1);
  record.plan.variants = json.integer("variants", 1, kMaxCount);
  record.plan.variant = json.integer("variant", 0, record.plan.variants - 1);
  record.plan.repeats = json.integer("repeats", 1);
  if (json.has("until")) record.plan.until = read_until(json.object("until"));
  if (json.has("order_seed")) record.plan.order_seed = json.seed("order_seed");
  record.plan.baseline = json.text_or_null("baseline");
  record.plan.hash = json.text_or_nothing("hash");
  if (json.has("checks")) record.plan.checks = read_checks_of_plan(json.object("checks"));
  if (json.has("silhouette")) record.plan.silhouette = json.boolean("silhouette");
  if (json.has("counters")) record.plan.counters = json.boolean("counters");
}

void read_backend(const JsonFields& json, Record& record) {
  record.backend.name = json.text("name");
  record.backend.label = json.text("label");
  record.backend.version = json.text_or_null("version");
  record.backend.parameters = json.object_json("parameters");
  if (!json.is_null("accuracy")) {
    record.backend.accuracy = json.name("accuracy", apps::parse_accuracy);
  }
  if (!json.is_null("reproducibility")) {
    record.backend.reproducibility = json.name("reproducibility", apps::parse_reproducibility);
  }
  record.backend.devices = json.texts("devices");
}

void read_dataset(const JsonFields& json, Record& record) {
  record.dataset.name = json.text("name");
  record.dataset.samples = json.integer("samples", 1);
  record.dataset.features = json.integer("features", 1);
  record.dataset.dtype = json.name("dtype", apps::parse_dtype);
  if (!json.is_null("fingerprint")) record.dataset.fingerprint = json.hash("fingerprint");
  record.dataset.source = json.object_json("source");
}

void read_seeding(const JsonFields& json, Record& record) {
  record.seeding.method = json.name("method", parse_seeding_method);
  record.seeding.seed = json.seed("seed");
  record.seeding.file = json.text_or_null("file");
  if (!json.is_null("ms")) record.seeding.ms = json.number("ms", 0);
  record.seeding.backend = json.text_or_nothing("backend");
  if (record.seeding.method == to_string(SeedingMethod::kmeans_parallel)) {
    Seeding seeding;
    seeding.method = SeedingMethod::kmeans_parallel;
    seeding.oversampling = json.number("oversampling", 0);
    seeding.rounds = json.integer("rounds", 1);
    check_seeding(seeding);
    record.seeding.oversampling = seeding.oversampling;
    record.seeding.rounds = seeding.rounds;
  }
}

// Records of earlier versions lack these keys.
void read_isolation(const JsonFields& json, Record& record) {
  const std::string mode = json.text_or_nothing("isolate");
  if (mode.empty()) return;
  Isolation& isolation = record.isolation.emplace();
  isolation.mode = parse_isolate_mode(mode);
  if (!json.is_null("timeout")) isolation.timeout = json.number("timeout", 0);
  if (!json.is_null("memory_limit")) isolation.memory_limit = json.integer("memory_limit", 1);
  const std::string cpus = json.text_or_null("cpus");
  isolation.cpus = parse_processors(cpus);
  if (!cpus.empty() && isolation.cpus.empty()) json.fail("cpus", "a text such as 0-3,8");
}

// Accepts {"iterations"}, or {"max_iterations", "tolerance"}.
void check_stop(const ordered_json& stop) {
  const JsonFields json(stop, "stop");
  if (stop.contains("iterations")) {
    json.integer("iterations", 1);
    return;
  }
  json.integer("max_iterations", 1);
  json.number("tolerance", 0);
}

void read_outcome(const JsonFields& json, Record& record) {
  record.status = parse_trial_status(json.text("status"));
  record.reason = json.text_or_null("reason");
  record.release_failure = json.text_or_nothing("release_failure");
  const double start_ms = json.number_or_nothing("start_ms", 0);
  if (std::isfinite(start_ms)) record.start_ms = start_ms;
  if (!json.is_null("iterations")) record.fit = measurements_from_json(json);
  if (!json.is_null("wrong_labels")) {
    AfterOne& after_one = record.after_one.emplace();
    after_one.inertia = json.number_or_nan("inertia_after_one", 0);
    // Earlier versions compared all labels.
    after_one.labels.samples = json.has("checked_labels")
                                   ? json.integer("checked_labels", 0, record.dataset.samples)
                                   : record.dataset.samples;
    after_one.labels.wrong = json.integer("wrong_labels", 0, after_one.labels.samples);
    after_one.labels.worst_ratio = json.number_or_nan("worst_ratio", 1);
  }
  if (!json.is_null("memory_bytes")) {
    const JsonFields bytes = json.object("memory_bytes");
    MemoryEstimate& memory = record.memory.emplace();
    memory.host_bytes = bytes.integer("host", 0);
    memory.device_bytes = bytes.integer("device", 0);
  }
  // Records of earlier versions lack this key.
  for (const ordered_json& published : json.list_or_nothing("published")) {
    record.published.push_back(published_from_json(published));
  }
  if (record.status != TrialStatus::ok) return;
  if (record.backend.accuracy.empty()) {
    json.object("backend").fail("accuracy", "a name, as 'status' is ok");
  }
  if (!record.fit) json.fail("iterations", "a number, as 'status' is ok");
  json.integer("iterations", 1);
  for (const char* key : {"inertia", "loop_ms", "closing_ms", "fit_ms"}) json.number(key, 0);
  if (record.after_one) json.number("inertia_after_one", 0);
}

}  // namespace

Record record_from_json(const ordered_json& object) {
  const JsonFields json(object);
  const std::int64_t schema = json.integer("schema", 1);
  if (schema != kRecordSchema) {
    throw InputError(fmt::format("the record has schema {}; this program reads schema {}", schema,
                                 kRecordSchema));
  }
  Record record;
  record.experiment = json.text("experiment");
  record.run = json.text("run");
  record.setting = json.hash("setting");
  const JsonFields axes = json.object("axes");
  for (const auto& [path, value] : json.object_json("axes").items()) {
    record.axes.push_back({path, axes.text(path)});
  }
  read_place(json.object("plan"), record);
  read_backend(json.object("backend"), record);
  read_dataset(json.object("dataset"), record);
  record.clusters = json.integer("clusters", 1);
  read_seeding(json.object("seeding"), record);
  record.restarts = json.integer("restarts", 1);
  record.stop = json.object_json("stop");
  check_stop(record.stop);
  record.empty_clusters = json.name("empty_clusters", apps::parse_empty_clusters);
  record.profile = json.boolean("profile");
  if (json.has("cold_l2")) record.cold_l2 = json.boolean("cold_l2");
  // With `until`, the experiment's repeats are only the minimum.
  record.repeat =
      json.integer("repeat", 0, record.plan.until ? kMaxCount : record.plan.repeats - 1);
  if (json.has("order")) record.order = json.integer("order", 0);
  read_isolation(json, record);
  if (json.has("ranks")) record.ranks = json.integer("ranks", 1, kMaxRanks);
  record.launcher = json.text_or_nothing("launcher");
  record.rank_times = apps::rank_times_from_json(json);
  read_outcome(json, record);
  if (object.contains("trace")) {
    record.trace = trace_from_json(object.at("trace"), record.clusters);
  }
  record.machine = machine_from_json(json.object("machine"));
  if (json.has("process")) record.process = process_from_json(json.object("process"));
  if (json.has("conditions")) record.conditions = conditions_from_json(json.object("conditions"));
  record.time = json.text("time");
  return record;
}

}  // namespace lloyd::experiment
