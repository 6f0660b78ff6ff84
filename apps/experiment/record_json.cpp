// Records to JSON and back.

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "experiment/record.hpp"

namespace lloyd::experiment {

using nlohmann::ordered_json;

namespace {

// The text, or null for an empty one.
ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

std::string text_of(const ordered_json& json) {
  return json.is_null() ? std::string() : json.get<std::string>();
}

ordered_json machine_json(const Machine& machine) {
  return {
      {"cpu", machine.cpu}, {"cores", machine.cores},       {"memory_bytes", machine.memory_bytes},
      {"os", machine.os},   {"compiler", machine.compiler}, {"lloyd", machine.lloyd}};
}

Machine machine_of(const ordered_json& json) {
  Machine machine;
  machine.cpu = json.at("cpu").get<std::string>();
  machine.cores = json.at("cores").get<std::int64_t>();
  machine.memory_bytes = json.at("memory_bytes").get<std::int64_t>();
  machine.os = json.at("os").get<std::string>();
  machine.compiler = json.at("compiler").get<std::string>();
  machine.lloyd = json.at("lloyd").get<std::string>();
  return machine;
}

// A trial without measurements has the same keys, all null.
void add_measurements(ordered_json& json, const std::optional<Measurements>& fit) {
  const ordered_json keys = to_json(fit.value_or(Measurements()));
  for (const auto& [key, value] : keys.items()) {
    json[key] = fit ? value : ordered_json(nullptr);
  }
}

TrialStatus parse_status(const std::string& name) {
  for (const TrialStatus status :
       {TrialStatus::ok, TrialStatus::skipped, TrialStatus::failed, TrialStatus::cancelled}) {
    if (name == to_string(status)) return status;
  }
  throw InputError(fmt::format("unknown status '{}'", name));
}

Record read_record(const ordered_json& json) {
  const int schema = json.at("schema").get<int>();
  if (schema != kRecordSchema) {
    throw InputError(fmt::format("the record has schema {}; this program reads schema {}", schema,
                                 kRecordSchema));
  }
  Record record;
  record.experiment = json.at("experiment").get<std::string>();
  record.run = json.at("run").get<std::string>();
  record.setting = json.at("setting").get<std::string>();
  for (const auto& [path, value] : json.at("axes").items()) {
    record.axes.push_back({path, value.get<std::string>()});
  }
  const ordered_json& backend = json.at("backend");
  record.backend.name = backend.at("name").get<std::string>();
  record.backend.version = backend.at("version").get<std::string>();
  record.backend.parameters = backend.at("parameters");
  record.backend.accuracy = backend.at("accuracy").get<std::string>();
  record.backend.reproducibility = backend.at("reproducibility").get<std::string>();
  record.backend.devices = backend.at("devices").get<std::vector<std::string>>();
  const ordered_json& dataset = json.at("dataset");
  record.dataset.name = dataset.at("name").get<std::string>();
  record.dataset.samples = dataset.at("samples").get<std::int64_t>();
  record.dataset.features = dataset.at("features").get<std::int64_t>();
  record.dataset.dtype = dataset.at("dtype").get<std::string>();
  record.dataset.fingerprint = text_of(dataset.at("fingerprint"));
  record.dataset.source = dataset.at("source");
  record.clusters = json.at("clusters").get<std::int64_t>();
  const ordered_json& seeding = json.at("seeding");
  record.seeding.method = seeding.at("method").get<std::string>();
  record.seeding.seed = seeding.at("seed").get<std::uint64_t>();
  record.seeding.file = text_of(seeding.at("file"));
  if (!seeding.at("ms").is_null()) record.seeding.ms = seeding.at("ms").get<double>();
  if (seeding.contains("oversampling")) {
    record.seeding.oversampling = seeding.at("oversampling").get<double>();
    record.seeding.rounds = seeding.at("rounds").get<std::int64_t>();
  }
  record.restarts = json.at("restarts").get<std::int64_t>();
  record.stop = json.at("stop");
  record.empty_clusters = json.at("empty_clusters").get<std::string>();
  record.profile = json.at("profile").get<bool>();
  record.repeat = json.at("repeat").get<std::int64_t>();
  record.status = parse_status(json.at("status").get<std::string>());
  record.reason = text_of(json.at("reason"));
  if (!json.at("iterations").is_null()) record.fit = measurements_from_json(json);
  if (!json.at("wrong_labels").is_null()) {
    AfterOne& after_one = record.after_one.emplace();
    after_one.inertia = number_or_nan(json.at("inertia_after_one"));
    after_one.labels.wrong = json.at("wrong_labels").get<std::int64_t>();
    after_one.labels.worst_ratio = number_or_nan(json.at("worst_ratio"));
  }
  if (!json.at("memory_bytes").is_null()) {
    MemoryEstimate& memory = record.memory.emplace();
    memory.host_bytes = json.at("memory_bytes").at("host").get<std::int64_t>();
    memory.device_bytes = json.at("memory_bytes").at("device").get<std::int64_t>();
  }
  record.machine = machine_of(json.at("machine"));
  record.time = json.at("time").get<std::string>();
  return record;
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
  json["backend"] = {{"name", record.backend.name},
                     {"version", record.backend.version},
                     {"parameters", record.backend.parameters},
                     {"accuracy", record.backend.accuracy},
                     {"reproducibility", record.backend.reproducibility},
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
      {"ms", record.seeding.ms ? finite_or_null(*record.seeding.ms) : ordered_json(nullptr)}};
  if (record.seeding.oversampling && record.seeding.rounds) {
    json["seeding"]["oversampling"] = *record.seeding.oversampling;
    json["seeding"]["rounds"] = *record.seeding.rounds;
  }
  json["restarts"] = record.restarts;
  json["stop"] = record.stop;
  json["empty_clusters"] = record.empty_clusters;
  json["profile"] = record.profile;
  json["repeat"] = record.repeat;
  json["status"] = to_string(record.status);
  json["reason"] = text_or_null(record.reason);
  add_measurements(json, record.fit);
  json["inertia_after_one"] = nullptr;
  json["wrong_labels"] = nullptr;
  json["worst_ratio"] = nullptr;
  if (record.after_one) {
    json["inertia_after_one"] = finite_or_null(record.after_one->inertia);
    json["wrong_labels"] = record.after_one->labels.wrong;
    json["worst_ratio"] = finite_or_null(record.after_one->labels.worst_ratio);
  }
  json["memory_bytes"] = nullptr;
  if (record.memory) {
    json["memory_bytes"] = {{"host", record.memory->host_bytes},
                            {"device", record.memory->device_bytes}};
  }
  json["machine"] = machine_json(record.machine);
  json["time"] = record.time;
  return json;
}

Record record_from_json(const ordered_json& json) {
  try {
    return read_record(json);
  } catch (const ordered_json::exception& error) {
    throw InputError(fmt::format("not a record: {}", error.what()));
  }
}

}  // namespace lloyd::experiment
