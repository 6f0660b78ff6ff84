// FitReport: the result of `lloyd fit` as text or JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <lloyd/fit.hpp>

#include "fit/rank_times.hpp"
#include "options/backend_options.hpp"

namespace lloyd::apps {

/// A fit and its inputs.
struct FitReport {
  const Dataset& dataset;
  const ChosenBackend& chosen;
  const FitOptions& options;
  const Fit& fit;
  double open_ms = 0;                                  ///< milliseconds for opening the session
  std::vector<std::string> warnings = {};              ///< about data and result; for JSON
  int ranks = 1;                                       ///< number of processes that fitted together
  std::optional<RankTimes> rank_times = std::nullopt;  ///< with several processes

  /// True if labels, counts and inertia exist; they do not if the only fit was cancelled.
  bool complete() const { return !fit.labels.empty() && !fit.counts.empty(); }
};

/// Maximum number k * d of values for which JSON has the centroids.
inline constexpr std::int64_t kMaxJsonCentroidValues = 100000;
/// k lists of d numbers, in the units of the data; null without centroids, and for more than
/// kMaxJsonCentroidValues values.
nlohmann::ordered_json centroids_json(const Fit& fit);

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

/// Has the keys of an experiment's record, and "warnings" and "centroids".
nlohmann::ordered_json to_json(const FitReport& report);

/// Prints a summary to standard output.
void print(const FitReport& report);

}  // namespace lloyd::apps
