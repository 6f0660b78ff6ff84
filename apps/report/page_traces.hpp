// The traces and replays of a report's page.
#pragma once

#include <nlohmann/json.hpp>

#include "experiment/record/record_reader.hpp"

namespace lloyd::report {

/// Six significant digits, which is more than a chart shows; null for NaN and infinities.
nlohmann::ordered_json rounded(double value);

/// Adds to the page's data: to each row that has one its `trace`, of at most 120 states; `replays`,
/// each with the `row` it is of, while they take no more than a megabyte; `replays_left_out`, how
/// many did not fit. The rows are those of the run's fits.
void add_traces(const experiment::RecordedRun& run, nlohmann::ordered_json& data);

}  // namespace lloyd::report
