// Writes traces as JSON and reads them.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/json_fields.hpp>

#include "experiment/trial/trace.hpp"
#include "json/json_or_null.hpp"

namespace lloyd::experiment {

using apps::finite_or_null;
using nlohmann::ordered_json;

namespace {

constexpr const char* kFeatures = "features";
constexpr const char* kComponents = "principal components";

ordered_json numbers_json(const std::vector<double>& values) {
  ordered_json json = ordered_json::array();
  for (const double value : values) json.push_back(finite_or_null(value));
  return json;
}

const ordered_json& list(const JsonFields& json, const ordered_json& object, const char* key) {
  if (json.is_null(key) || !object.at(key).is_array()) json.fail(key, "a list");
  return object.at(key);
}

std::vector<double> numbers(const JsonFields& json, const ordered_json& object, const char* key,
                            std::size_t size) {
  std::vector<double> values;
  for (const ordered_json& value : list(json, object, key)) {
    const bool is_number = value.is_number() && std::isfinite(value.get<double>());
    if (!is_number && !value.is_null()) json.fail(key, "a list of numbers and nulls");
    values.push_back(is_number ? value.get<double>() : std::nan(""));
  }
  if (values.size() != size) json.fail(key, fmt::format("a list of {} numbers", size));
  return values;
}

std::array<double, 2> pair(const JsonFields& json, const ordered_json& object, const char* key) {
  const std::vector<double> values = numbers(json, object, key, 2);
  if (std::isnan(values[0]) || std::isnan(values[1])) json.fail(key, "a list of 2 numbers");
  return {values[0], values[1]};
}

// Reads integers from 0 to `most`.
std::vector<int> integers(const JsonFields& json, const ordered_json& values, const char* key,
                          std::int64_t most) {
  std::vector<int> result;
  for (const ordered_json& value : values) {
    if (!value.is_number_integer() || value < 0 || value > most) {
      json.fail(key, fmt::format("a list of integers from 0 to {}", most));
    }
    result.push_back(value.get<int>());
  }
  return result;
}

std::vector<std::vector<int>> frames(const JsonFields& json, const ordered_json& object,
                                     const char* key, std::size_t count, std::int64_t most) {
  std::vector<std::vector<int>> result;
  for (const ordered_json& frame : list(json, object, key)) {
    if (!frame.is_array()) json.fail(key, "a list of lists");
    result.push_back(integers(json, frame, key, most));
  }
  if (result.size() != count) json.fail(key, fmt::format("a list of {} lists", count));
  return result;
}

Replay replay_from_json(const ordered_json& object, std::int64_t clusters) {
  const JsonFields json(object, "trace.replay");
  Replay replay;
  const std::string view = json.text("view");
  if (view != kFeatures && view != kComponents) {
    json.fail("view", fmt::format("'{}' or '{}'", kFeatures, kComponents));
  }
  replay.components = view == kComponents;
  const std::vector<std::string> axes = json.texts("axes");
  if (axes.size() != 2) json.fail("axes", "a list of 2 texts");
  replay.axes = {axes[0], axes[1]};
  replay.low = pair(json, object, "low");
  replay.high = pair(json, object, "high");
  replay.share = pair(json, object, "share");
  replay.points = integers(json, list(json, object, "points"), "points", kReplayGrid);
  const std::size_t samples = replay.points.size() / 2;
  if (samples == 0 || replay.points.size() % 2 != 0) json.fail("points", "a list of pairs");
  for (const ordered_json& value : list(json, object, "iterations")) {
    if (!value.is_number_integer() || value < 0) json.fail("iterations", "a list of integers");
    replay.iterations.push_back(value.get<std::int64_t>());
  }
  if (replay.iterations.empty() ||
      !std::is_sorted(replay.iterations.begin(), replay.iterations.end())) {
    json.fail("iterations", "an ascending list");
  }
  const std::size_t count = replay.iterations.size();
  replay.centroids = frames(json, object, "centroids", count, kReplayGrid);
  const auto most = std::max(clusters, static_cast<std::int64_t>(samples));
  replay.labels = frames(json, object, "labels", count, most - 1);
  for (std::size_t f = 0; f < count; ++f) {
    if (replay.centroids[f].size() != 2 * static_cast<std::size_t>(clusters)) {
      json.fail("centroids", fmt::format("a list of lists of {} pairs", clusters));
    }
    const std::vector<int>& labels = replay.labels[f];
    if (f == 0 ? labels.size() != samples : labels.size() % 2 != 0) {
      json.fail("labels", "a list of labels, then lists of pairs of point and label");
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const bool is_point = f > 0 && i % 2 == 0;
      if (labels[i] >= (is_point ? static_cast<std::int64_t>(samples) : clusters)) {
        json.fail("labels", "a list of lists of existing labels and points");
      }
    }
  }
  return replay;
}

}  // namespace

ordered_json to_json(const Replay& replay) {
  return {{"view", replay.components ? kComponents : kFeatures},
          {"axes", replay.axes},
          {"low", replay.low},
          {"high", replay.high},
          {"share", replay.share},
          {"points", replay.points},
          {"iterations", replay.iterations},
          {"centroids", replay.centroids},
          {"labels", replay.labels}};
}

ordered_json to_json(const Trace& trace) {
  ordered_json json = {{"elapsed_ms", numbers_json(trace.elapsed_ms)},
                       {"inertia", numbers_json(trace.inertia)},
                       {"shift", numbers_json(trace.shift)}};
  if (trace.replay) json["replay"] = to_json(*trace.replay);
  return json;
}

Trace trace_from_json(const ordered_json& object, std::int64_t clusters) {
  const JsonFields json(object, "trace");
  Trace trace;
  const std::size_t states = list(json, object, "inertia").size();
  if (states < 2) json.fail("inertia", "a list of at least 2 numbers");
  trace.inertia = numbers(json, object, "inertia", states);
  trace.elapsed_ms = numbers(json, object, "elapsed_ms", states);
  trace.shift = numbers(json, object, "shift", states - 1);
  if (object.contains("replay")) trace.replay = replay_from_json(object.at("replay"), clusters);
  return trace;
}

}  // namespace lloyd::experiment
