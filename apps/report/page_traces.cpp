#include "report/page_traces.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "experiment/trial/trace.hpp"

namespace lloyd::report {

using namespace experiment;
using nlohmann::ordered_json;

namespace {

constexpr std::size_t kMaxStates = 120;
constexpr std::size_t kMaxReplayBytes = 1'000'000;

// At most kMaxStates evenly spaced indices, including the first and the last. `states` >= 2.
std::vector<std::size_t> states_to_show(std::size_t states) {
  std::vector<std::size_t> shown;
  const std::size_t count = std::min(states, kMaxStates);
  for (std::size_t i = 0; i < count; ++i) shown.push_back(i * (states - 1) / (count - 1));
  return shown;
}

ordered_json trace_json(const Trace& trace) {
  ordered_json iteration = ordered_json::array();
  ordered_json elapsed = ordered_json::array();
  ordered_json inertia = ordered_json::array();
  ordered_json shift = ordered_json::array();
  for (const std::size_t i : states_to_show(trace.inertia.size())) {
    iteration.push_back(i);
    elapsed.push_back(rounded(trace.elapsed_ms[i]));
    inertia.push_back(rounded(trace.inertia[i]));
    shift.push_back(i == 0 ? ordered_json(nullptr) : rounded(trace.shift[i - 1]));
  }
  return {
      {"iteration", iteration}, {"elapsed_ms", elapsed}, {"inertia", inertia}, {"shift", shift}};
}

// True if the baseline has left a replay of the same setting.
bool is_superseded(const RecordedRun& run, const Record& record) {
  if (record.backend.label == record.plan.baseline) return false;
  const auto has_replay = [](const Record& other) {
    return other.trace && other.trace->replay.has_value();
  };
  return std::any_of(run.fits.begin(), run.fits.end(), [&](const std::vector<Record>& fit) {
    const Record& first = fit.front();
    return first.plan.setting == record.plan.setting &&
           first.backend.label == record.plan.baseline &&
           std::any_of(fit.begin(), fit.end(), has_replay);
  });
}

}  // namespace

ordered_json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  const std::string text = fmt::format("{:.6g}", value);
  double result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

void add_traces(const RecordedRun& run, ordered_json& data) {
  data["replays"] = ordered_json::array();
  std::size_t bytes = 0;
  std::size_t left_out = 0;
  for (std::size_t r = 0; r < run.fits.size(); ++r) {
    for (const Record& record : run.fits[r]) {
      if (!record.trace) continue;
      data["rows"][r]["trace"] = trace_json(*record.trace);
      if (!record.trace->replay || is_superseded(run, record)) continue;
      ordered_json replay = to_json(*record.trace->replay);
      const std::size_t size = replay.dump().size();
      if (bytes + size > kMaxReplayBytes) {
        ++left_out;  // later ones may be smaller
        continue;
      }
      bytes += size;
      replay["row"] = r;
      data["replays"].push_back(std::move(replay));
    }
  }
  data["replays_left_out"] = left_out;
}

}  // namespace lloyd::report
