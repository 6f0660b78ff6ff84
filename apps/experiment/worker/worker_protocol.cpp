#include "experiment/worker/worker_protocol.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "experiment/config/isolation.hpp"
#include "experiment/trial/options_json.hpp"
#include "json/json_or_null.hpp"
#include "text/names.hpp"

namespace lloyd::experiment {

using apps::finite_or_null;
using nlohmann::ordered_json;

namespace {

constexpr std::array<std::pair<MessageKind, std::string_view>, 9> kKinds = {
    {{MessageKind::start, "start"},
     {MessageKind::dataset, "dataset"},
     {MessageKind::forget, "forget"},
     {MessageKind::trial, "trial"},
     {MessageKind::trace, "trace"},
     {MessageKind::settle, "settle"},
     {MessageKind::finish, "finish"},
     {MessageKind::seed, "seed"},
     {MessageKind::prepare, "prepare"}}};

ordered_json message_of(MessageKind kind) {
  return {{"message", kKinds[static_cast<std::size_t>(kind)].second}};
}

std::string packet_text(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json after_one_json(const AfterOne& after_one) {
  return {{"inertia", finite_or_null(after_one.inertia)},
          {"checked_labels", after_one.labels.samples},
          {"wrong_labels", after_one.labels.wrong},
          {"worst_ratio", finite_or_null(after_one.labels.worst_ratio)},
          {"digest", after_one.digest}};
}

AfterOne read_after_one(const JsonFields& json) {
  AfterOne after_one;
  after_one.inertia = json.number_or_nan("inertia", 0);
  after_one.labels.samples = json.integer("checked_labels", 0);
  after_one.labels.wrong = json.integer("wrong_labels", 0);
  after_one.labels.worst_ratio = json.number_or_nan("worst_ratio", 1);
  after_one.digest = json.seed("digest");
  return after_one;
}

TrialOutcome read_outcome(const JsonFields& json) {
  TrialOutcome outcome;
  outcome.failure = json.text("failure");
  outcome.probe_failed = json.boolean("probe_failed");
  outcome.cancelled = json.boolean("cancelled");
  if (!json.is_null("after_one")) {
    outcome.after_one = read_after_one(json.object("after_one"));
  }
  if (!json.is_null("fit")) outcome.fit = measurements_from_json(json.object("fit"));
  outcome.check_ms = json.number("check_ms", 0);
  if (json.has("process")) outcome.process = process_from_json(json.object("process"));
  if (outcome.failure.empty() && !outcome.cancelled && !outcome.fit) {
    json.fail("fit", "an object, as nothing failed");
  }
  return outcome;
}

}  // namespace

std::string start_message(const StartMessage& message) {
  ordered_json json = message_of(MessageKind::start);
  json["plugin"] = message.plugin;
  json["parameters"] = message.parameters;
  json["cpus"] = format_processors(message.cpus);
  json["identity"] = message.identity;
  json["close_limit_ms"] = message.close_limit.count();
  json["begun_ns"] = std::chrono::nanoseconds(message.begun.time_since_epoch()).count();
  return packet_text(json);
}

std::string prepare_message() {
  return packet_text(message_of(MessageKind::prepare));
}

std::string dataset_message(const ordered_json& description) {
  ordered_json json = message_of(MessageKind::dataset);
  json["dataset"] = description;
  return packet_text(json);
}

std::string forget_message() {
  return packet_text(message_of(MessageKind::forget));
}

std::string trial_message(const TrialMessage& message) {
  ordered_json json = message_of(MessageKind::trial);
  write_options(message.options, json);
  json["probe"] = message.probe;
  json["check_result"] = message.check_result;
  json["checked_samples"] = message.checks.samples;
  json["check_seconds"] = message.checks.seconds;
  json["silhouette"] = message.silhouette;
  json["cold_l2"] = message.cold_l2;
  json["counters"] = message.counters;
  json["checked_before"] = ordered_json::array();
  for (const AfterOne& before : message.checked_before) {
    json["checked_before"].push_back(after_one_json(before));
  }
  json["one_session"] = message.one_session;
  json["processor"] = message.processor ? ordered_json(*message.processor) : ordered_json();
  return packet_text(json);
}

std::string trace_message(const TraceMessage& message) {
  ordered_json json = message_of(MessageKind::trace);
  write_options(message.options, json);
  json["restart"] = message.restart;
  json["replay"] = message.replay;
  json["warm_up"] = message.warm_up;
  return packet_text(json);
}

std::string seed_message(const SeedMessage& message) {
  const Seeding& seeding = message.options.seeding;
  ordered_json json = message_of(MessageKind::seed);
  json["clusters"] = message.options.clusters;
  json["restarts"] = message.options.restarts;
  json["first_restart"] = message.first_restart;
  json["method"] = to_string(seeding.method);
  json["seed"] = seeding.seed;
  json["oversampling"] = seeding.oversampling;
  json["rounds"] = seeding.rounds;
  return packet_text(json);
}

std::string settle_message() {
  return packet_text(message_of(MessageKind::settle));
}

std::string finish_message() {
  return packet_text(message_of(MessageKind::finish));
}

std::string answer_releasing() {
  return packet_text({{"answer", "releasing"}});
}

std::string answer_done() {
  return packet_text({{"answer", "done"}});
}

std::string answer_started(double ms) {
  return packet_text({{"answer", "started"}, {"ms", ms}});
}

std::string answer_failure(std::string_view failure) {
  return packet_text({{"answer", "failure"}, {"failure", failure}});
}

std::string answer_outcome(const TrialOutcome& outcome) {
  // Names every member, so that this does not compile after one was added: send it here, and read
  // it in read_outcome().
  const auto& [failure, probe_failed, cancelled, after_one, fit, check_ms, process] = outcome;
  ordered_json json = {{"answer", "outcome"},          {"failure", failure},
                       {"probe_failed", probe_failed}, {"cancelled", cancelled},
                       {"after_one", nullptr},         {"fit", nullptr},
                       {"check_ms", check_ms}};
  if (after_one) json["after_one"] = after_one_json(*after_one);
  if (fit) json["fit"] = to_json(*fit);
  if (process) json["process"] = to_json(*process);
  return packet_text(json);
}

std::string answer_trace() {
  return packet_text({{"answer", "trace"}});
}

std::string answer_cancelled() {
  return packet_text({{"answer", "cancelled"}});
}

std::string answer_seeds(double ms) {
  return packet_text({{"answer", "seeds"}, {"ms", ms}});
}

std::string answer_no_kernels() {
  return packet_text({{"answer", "no kernels"}});
}

std::string answer_progress(std::string_view stage, std::int64_t done, std::int64_t total) {
  return packet_text({{"answer", "progress"}, {"stage", stage}, {"done", done}, {"total", total}});
}

ordered_json parse_message(std::string_view text) {
  ordered_json json = ordered_json::parse(text, nullptr, false);
  if (!json.is_object()) throw InputError("the message is not a JSON object");
  return json;
}

MessageKind message_kind(const ordered_json& message) {
  const std::string name = JsonFields(message).text("message");
  for (const auto& [kind, known] : kKinds) {
    if (known == name) return kind;
  }
  throw InputError(fmt::format("unknown message '{}'", name));
}

StartMessage read_start_message(const ordered_json& message) {
  const JsonFields json(message);
  StartMessage start;
  start.plugin = json.text("plugin");
  start.parameters = read_texts(json, "parameters");
  start.identity = read_texts(json, "identity");
  start.cpus = parse_processors(json.text("cpus"));
  start.close_limit = std::chrono::milliseconds(json.integer("close_limit_ms", 0));
  start.begun += std::chrono::nanoseconds(json.integer("begun_ns", 0));
  return start;
}

const ordered_json& read_dataset_message(const ordered_json& message) {
  return JsonFields(message).object_json("dataset");
}

TrialMessage read_trial_message(const ordered_json& message) {
  const JsonFields json(message);
  TrialMessage trial;
  trial.options = read_options(json);
  trial.probe = json.boolean("probe");
  trial.check_result = json.boolean("check_result");
  trial.checks.samples = json.integer("checked_samples", 0);
  trial.checks.seconds = json.number("check_seconds", 0);
  trial.silhouette = json.boolean("silhouette");
  trial.cold_l2 = json.boolean("cold_l2");
  trial.counters = json.boolean("counters");
  for (const ordered_json& before : json.list_or_nothing("checked_before")) {
    trial.checked_before.push_back(read_after_one(JsonFields(before, "checked_before")));
  }
  trial.one_session = json.boolean("one_session");
  if (!json.is_null("processor")) trial.processor = read_processor(json);
  return trial;
}

TraceMessage read_trace_message(const ordered_json& message) {
  const JsonFields json(message);
  TraceMessage trace;
  trace.options = read_options(json);
  trace.restart = json.integer("restart", 0, trace.options.restarts - 1);
  trace.replay = json.boolean("replay");
  trace.warm_up = json.boolean("warm_up");
  return trace;
}

SeedMessage read_seed_message(const ordered_json& message) {
  const JsonFields json(message);
  SeedMessage seed;
  seed.options.clusters = json.integer("clusters", 1);
  seed.options.restarts = json.integer("restarts", 1);
  seed.first_restart = json.integer("first_restart", 0);
  Seeding& seeding = seed.options.seeding;
  seeding.method = parse_seeding_method(json.text("method"));
  seeding.seed = json.seed("seed");
  seeding.oversampling = json.number("oversampling", 0);
  seeding.rounds = json.integer("rounds", 1);
  return seed;
}

Answer read_answer(std::string_view text) {
  const ordered_json message = parse_message(text);
  const JsonFields json(message);
  Answer answer;
  const std::string kind = json.text("answer");
  if (kind == "failure") {
    answer.failure = json.text("failure");
    if (answer.failure.empty()) json.fail("failure", "a reason");
  } else if (kind == "outcome") {
    answer.outcome = read_outcome(json);
    answer.has_outcome = true;
  } else if (kind == "started") {
    answer.start_ms = json.number("ms", 0);
  } else if (kind == "releasing") {
    answer.releasing = true;
  } else if (kind == "trace") {
    answer.has_trace = true;
  } else if (kind == "cancelled") {
    answer.cancelled = true;
  } else if (kind == "seeds") {
    answer.has_seeds = true;
    answer.seeding_ms = json.number("ms", 0);
  } else if (kind == "no kernels") {
    answer.no_kernels = true;
  } else if (kind == "progress") {
    answer.stage = json.text("stage");
    if (answer.stage.empty()) json.fail("stage", "a name");
    answer.done = json.integer("done", 0);
    answer.total = json.integer("total", 0);
  } else if (kind != "done") {
    json.fail("answer",
              "done, started, failure, outcome, releasing, trace, cancelled, seeds, no kernels or "
              "progress");
  }
  return answer;
}

}  // namespace lloyd::experiment
