// FitReport: the result of `lloyd fit` as text or JSON.
#pragma once

#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include <lloyd/data/row_views.hpp>
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
  /// The map of the samples before the fit, if they were standardized.
  std::optional<Standardization> standardization = std::nullopt;

  /// True if labels, counts and inertia exist; they do not if the only fit was cancelled.
  bool complete() const { return !fit.labels.empty() && !fit.counts.empty(); }
  /// The centroids, k x d, in the units of the data file.
  std::vector<double> centroids() const {
    return standardization ? standardization->undo(fit.centroids) : fit.centroids;
  }
};

/// Has the keys of an experiment's record.
nlohmann::ordered_json to_json(const FitReport& report);

/// Prints a summary to standard output.
void print(const FitReport& report);

}  // namespace lloyd::apps
