#include "fit/measurements.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <lloyd/internal/uncounted_distances.hpp>

#include "json/json_or_null.hpp"
#include "text/names.hpp"

namespace lloyd::experiment {

using apps::finite_or_null;
using apps::text_or_null;
using apps::value_or_null;
using nlohmann::ordered_json;

namespace {

constexpr std::array<std::pair<const char*, double PhaseTimes::*>, 4> kPhases = {
    {{"transfer", &PhaseTimes::transfer_ms},
     {"assignment", &PhaseTimes::assignment_ms},
     {"update", &PhaseTimes::update_ms},
     {"convergence", &PhaseTimes::convergence_ms}}};

constexpr const char* kExactFallbacks = "exact_fallbacks";
constexpr const char* kEarlierFallbacks = "redecided";  // the key in records of version 0.1.0

ResultCheck check_from_json(const JsonFields& json) {
  ResultCheck check;
  check.samples = json.integer("samples", 1);
  check.labels.samples = check.samples;
  check.labels.wrong = json.integer("wrong_labels", 0, check.samples);
  check.labels.worst_ratio = json.number_or_nan("worst_ratio", 1);
  return check;
}

// A number in [-1, 1]; NaN if it is missing or null.
double share_from_json(const JsonFields& json, const char* key) {
  const double value = json.number_or_nothing(key, -1);
  if (value > 1) json.fail(key, "a number from -1 to 1");
  return value;
}

ordered_json counters_json(const machine::CpuCounts& counts) {
  return {{"cycles", value_or_null(counts.cycles)},
          {"instructions", value_or_null(counts.instructions)},
          {"cache_misses", value_or_null(counts.cache_misses)},
          {"refused", text_or_null(counts.refusal)}};
}

machine::CpuCounts counters_from_json(const JsonFields& json) {
  machine::CpuCounts counts;
  if (json.has("cycles")) counts.cycles = json.integer("cycles", 0);
  if (json.has("instructions")) counts.instructions = json.integer("instructions", 0);
  if (json.has("cache_misses")) counts.cache_misses = json.integer("cache_misses", 0);
  counts.refusal = json.text_or_nothing("refused");
  return counts;
}

}  // namespace

ordered_json to_json(const ResultCheck& check) {
  return {{"samples", check.samples},
          {"wrong_labels", check.labels.wrong},
          {"worst_ratio", finite_or_null(check.labels.worst_ratio)}};
}

Measurements measurements_of(const Fit& fit, double open_ms) {
  const FitResult& result = fit.result;
  Measurements m;
  m.iterations = result.iterations;
  m.stop_reason = lloyd::to_string(fit.cancelled ? StopReason::cancelled : result.stop_reason);
  if ((result.valid & kValidInertia) != 0) m.inertia = result.inertia;
  m.open_ms = open_ms;
  m.loop_ms = result.loop_ms;
  m.closing_ms = result.closing_ms;
  m.fit_ms = fit.fit_ms;
  m.phases = result.phases;
  m.distances = result.distances;
  m.relocations = result.relocations;
  if (!fit.counts.empty()) m.clusters_empty = std::count(fit.counts.begin(), fit.counts.end(), 0);
  m.exact_fallbacks = result.exact_fallbacks;
  m.sum_form = apps::to_string(result.sum_form);
  m.restart = fit.restart;
  m.notes = fit.notes;
  m.check = fit.check;
  return m;
}

ordered_json to_json(const Measurements& m) {
  ordered_json phases = ordered_json::object();
  for (const auto& [name, member] : kPhases) {
    if (m.phases.*member >= 0) phases[name] = finite_or_null(m.phases.*member);
  }
  ordered_json json;
  json["iterations"] = m.iterations;
  json["stop_reason"] = m.stop_reason;
  json["inertia"] = finite_or_null(m.inertia);
  json["open_ms"] = finite_or_null(m.open_ms);
  json["loop_ms"] = finite_or_null(m.loop_ms);
  json["closing_ms"] = finite_or_null(m.closing_ms);
  json["fit_ms"] = finite_or_null(m.fit_ms);
  json["phase_ms"] = phases;
  json["distances"] = m.distances < 0 ? ordered_json(nullptr) : ordered_json(m.distances);
  json["relocations"] = m.relocations;
  json["clusters_empty"] = value_or_null(m.clusters_empty);
  json[kExactFallbacks] =
      m.exact_fallbacks < 0 ? ordered_json(nullptr) : ordered_json(m.exact_fallbacks);
  json["sum_form"] = m.sum_form;
  json["restart"] = m.restart;
  json["notes"] = m.notes.empty() ? ordered_json(nullptr) : ordered_json(m.notes);
  json["check"] = m.check ? to_json(*m.check) : ordered_json(nullptr);
  json["adjusted_rand_index"] = finite_or_null(m.adjusted_rand_index);
  json["simplified_silhouette"] = finite_or_null(m.simplified_silhouette);
  json["silhouette_samples"] =
      m.silhouette_samples > 0 ? ordered_json(m.silhouette_samples) : ordered_json(nullptr);
  json["counters"] = m.counters ? counters_json(*m.counters) : ordered_json(nullptr);
  json["energy_j"] = finite_or_null(m.energy_j);
  return json;
}

Measurements measurements_from_json(const JsonFields& json) {
  Measurements m;
  m.iterations = json.integer("iterations", 0);
  m.stop_reason = json.name("stop_reason", apps::parse_stop_reason);
  m.inertia = json.number_or_nan("inertia", 0);
  m.open_ms = json.number_or_nan("open_ms", 0);
  m.loop_ms = json.number_or_nan("loop_ms", 0);
  m.closing_ms = json.number_or_nan("closing_ms", 0);
  m.fit_ms = json.number_or_nan("fit_ms", 0);
  const JsonFields phases = json.object("phase_ms");
  for (const auto& [name, member] : kPhases) {
    if (json.object_json("phase_ms").contains(name))
      m.phases.*member = phases.number_or_nan(name, 0);
  }
  m.distances = json.is_null("distances") ? kUncountedDistances : json.integer("distances", 0);
  m.relocations = json.integer("relocations", 0);
  if (json.has("clusters_empty")) m.clusters_empty = json.integer("clusters_empty", 0);
  const char* fallbacks = json.contains(kEarlierFallbacks) ? kEarlierFallbacks : kExactFallbacks;
  if (!json.is_null(fallbacks)) m.exact_fallbacks = json.integer(fallbacks, 0);
  m.sum_form = json.name("sum_form", apps::parse_sum_form);
  m.restart = json.integer("restart", 0);
  m.notes = json.text_or_nothing("notes");
  if (json.has("check")) m.check = check_from_json(json.object("check"));
  m.adjusted_rand_index = share_from_json(json, "adjusted_rand_index");
  m.simplified_silhouette = share_from_json(json, "simplified_silhouette");
  if (json.has("silhouette_samples")) {
    m.silhouette_samples = json.integer("silhouette_samples", 1);
  }
  if (json.has("counters")) m.counters = counters_from_json(json.object("counters"));
  m.energy_j = json.number_or_nothing("energy_j", 0);
  return m;
}

}  // namespace lloyd::experiment
