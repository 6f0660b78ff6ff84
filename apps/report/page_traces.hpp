// Traces and replays of a report's page.
#pragma once

#include <nlohmann/json.hpp>

#include "experiment/record/record_reader.hpp"

namespace lloyd::report {

/// Rounds to six significant digits, more than a chart shows; null for NaN and infinities.
nlohmann::ordered_json rounded(double value);

/// Adds to `data`: `trace`, of at most 120 states, to each row with one; `replays`, each with the
/// index of its `row`, up to a total of one megabyte of JSON; `replays_left_out`, the number of
/// those omitted. `data["rows"]` must have one row for each of the run's fits, in their order.
void add_traces(const experiment::RecordedRun& run, nlohmann::ordered_json& data);

}  // namespace lloyd::report
