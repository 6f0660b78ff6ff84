#include "experiment/measurements.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "names.hpp"

namespace lloyd::experiment {

using nlohmann::ordered_json;

namespace {

constexpr std::array<std::pair<const char*, double PhaseTimes::*>, 4> kPhases = {
    {{"transfer", &PhaseTimes::transfer_ms},
     {"assignment", &PhaseTimes::assignment_ms},
     {"update", &PhaseTimes::update_ms},
     {"convergence", &PhaseTimes::convergence_ms}}};

}  // namespace

ordered_json finite_or_null(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

double number_or_nan(const ordered_json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

Measurements measurements_of(const Fit& fit, double open_ms) {
  const FitResult& result = fit.result;
  Measurements m;
  m.iterations = result.iterations;
  m.stop_reason = apps::to_string(fit.cancelled ? StopReason::cancelled : result.stop_reason);
  if ((result.valid & kValidInertia) != 0) m.inertia = result.inertia;
  m.open_ms = open_ms;
  m.loop_ms = result.loop_ms;
  m.closing_ms = result.closing_ms;
  m.fit_ms = fit.fit_ms;
  m.phases = result.phases;
  m.distances = result.distances;
  m.relocations = result.relocations;
  m.redecided = result.redecided;
  m.sum_form = apps::to_string(result.sum_form);
  m.restart = fit.restart;
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
  json["distances"] = m.distances;
  json["relocations"] = m.relocations;
  json["redecided"] = m.redecided < 0 ? ordered_json(nullptr) : ordered_json(m.redecided);
  json["sum_form"] = m.sum_form;
  json["restart"] = m.restart;
  return json;
}

Measurements measurements_from_json(const ordered_json& json) {
  Measurements m;
  m.iterations = json.at("iterations").get<std::int64_t>();
  m.stop_reason = json.at("stop_reason").get<std::string>();
  m.inertia = number_or_nan(json.at("inertia"));
  m.open_ms = number_or_nan(json.at("open_ms"));
  m.loop_ms = number_or_nan(json.at("loop_ms"));
  m.closing_ms = number_or_nan(json.at("closing_ms"));
  m.fit_ms = number_or_nan(json.at("fit_ms"));
  for (const auto& [name, member] : kPhases) {
    if (json.at("phase_ms").contains(name)) {
      m.phases.*member = number_or_nan(json.at("phase_ms").at(name));
    }
  }
  m.distances = json.at("distances").get<std::int64_t>();
  m.relocations = json.at("relocations").get<std::int64_t>();
  if (!json.at("redecided").is_null()) m.redecided = json.at("redecided").get<std::int64_t>();
  m.sum_form = json.at("sum_form").get<std::string>();
  m.restart = json.at("restart").get<std::int64_t>();
  return m;
}

}  // namespace lloyd::experiment
