// FitReport: the result of `lloyd fit` as text or JSON.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <lloyd/fit.hpp>

#include "options/backend_options.hpp"

namespace lloyd::apps {

/// A fit and its inputs.
struct FitReport {
  const Dataset& dataset;
  const ChosenBackend& chosen;
  const FitOptions& options;
  const Fit& fit;
  double open_ms = 0;  ///< milliseconds for opening the session

  /// True if labels, counts and inertia exist; they do not if the only fit was cancelled.
  bool complete() const { return !fit.labels.empty() && !fit.counts.empty(); }
};

/// Keys "backend" and "dataset".
nlohmann::ordered_json inputs_json(const Dataset& dataset, const ChosenBackend& chosen);
/// Keys "method" and "seed"; for k-means|| also "oversampling" and "rounds".
nlohmann::ordered_json seeding_json(const Seeding& seeding);
/// Keys "mean" and "deviation".
nlohmann::ordered_json to_json(const Standardization& map);
/// Prints data set, backend and seeding to standard output. `fit` supplies the notes of the backend
/// and whether samples were standardized.
void print_inputs(const Dataset& dataset, const ChosenBackend& chosen, const FitOptions& options,
                  const Fit& fit);

/// Has the keys of an experiment's record.
nlohmann::ordered_json to_json(const FitReport& report);

/// Prints a summary to standard output.
void print(const FitReport& report);

}  // namespace lloyd::apps
