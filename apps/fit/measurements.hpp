// Measurements: what a fit leaves in a record, and in the answer of `lloyd fit --json`.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <lloyd/fit.hpp>

#include "json/json_fields.hpp"

namespace lloyd::experiment {

struct Measurements {
  std::int64_t iterations = 0;
  std::string stop_reason;
  double inertia = std::numeric_limits<double>::quiet_NaN();
  double open_ms = 0;
  double loop_ms = 0;
  double closing_ms = 0;
  double fit_ms = 0;  ///< of all restarts; the rest is of the one that was kept
  PhaseTimes phases;
  std::int64_t distances = 0;
  std::int64_t relocations = 0;
  std::int64_t exact_fallbacks = -1;  ///< -1: no screening
  std::string sum_form;
  std::int64_t restart = 0;  ///< the one that was kept
  std::string notes;         ///< what the backend chose from the sizes; may be empty
  /// What the result was held to; nothing where it was not checked, and in records of earlier
  /// versions. Its inertia is not kept: it is the one above.
  std::optional<ResultCheck> check;
};

Measurements measurements_of(const Fit& fit, double open_ms);

/// "iterations", "stop_reason", "inertia", "open_ms", ... in this order. What was not measured is
/// null; "phase_ms" has the phases that were measured.
nlohmann::ordered_json to_json(const Measurements& measurements);
/// "samples" whose labels were compared, "wrong_labels" of them, "worst_ratio".
nlohmann::ordered_json to_json(const ResultCheck& check);
/// Throws InputError for a key that is missing or whose value has another type or range.
Measurements measurements_from_json(const JsonFields& json);

}  // namespace lloyd::experiment
