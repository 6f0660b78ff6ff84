// ClusterChoice: the fits of `lloyd fit -k FIRST..LAST`, and the number of clusters they suggest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <lloyd/fit.hpp>

#include "fit/choice/cluster_suggestion.hpp"
#include "options/backend_options.hpp"

namespace lloyd::apps {

/// One fit of a range. To save memory, its labels are dropped, and its centroids are kept only if
/// the fit is best by some criterion.
struct TriedFit {
  std::int64_t clusters = 0;  ///< k
  Fit fit;
  double criteria_ms = 0;  ///< wall time of computing the criteria, milliseconds
};

struct ClusterChoice {
  std::vector<TriedFit> fits;         ///< ascending in k; those that were finished
  std::vector<CriteriaOfK> criteria;  ///< one for each fit
  ClusterSuggestion suggestion;
  bool cancelled = false;  ///< true if some k of the range were not tried
};

/// How choose_clusters() fits and reads the data.
struct ClusterTrials {
  std::function<Fit(std::int64_t clusters)> fit;  ///< fits one k; called in ascending order
  std::int64_t block_rows = 0;  ///< for a data set that is not in memory, see cluster_criteria()
  StopFunction stop;            ///< polled while criteria are computed; may be empty
};

/// Fits each k of `range` (ascending), computes the criteria and suggests one k. Ends early,
/// without the interrupted fit, once a fit is cancelled or `stop` returns true.
ClusterChoice choose_clusters(const Dataset& dataset, const std::vector<std::int64_t>& range,
                              const ClusterTrials& trials);

/// The inputs of the fits, for the outputs below.
struct ClusterChoiceReport {
  const Dataset& dataset;
  const ChosenBackend& chosen;
  const FitOptions& options;  ///< `clusters` is ignored
  const ClusterChoice& choice;
  double open_ms = 0;                      ///< milliseconds for opening the one session of all fits
  std::vector<std::string> warnings = {};  ///< about the data; for JSON
};

/// One object: inputs as in `lloyd fit --json`, "tried" (a list with one object per k),
/// "suggested_clusters" (null if there is no suggestion), "reason", "centroids" of the suggested
/// fit (see centroids_json()) and "warnings".
nlohmann::ordered_json to_json(const ClusterChoiceReport& report);
/// Prints inputs, a table and the suggestion to standard output.
void print(const ClusterChoiceReport& report);
/// Writes the criteria of each k: a chart to an .svg file, a table to a .csv file. Throws Error if
/// the file cannot be written.
void write_criteria(const std::filesystem::path& file, const ClusterChoiceReport& report);

}  // namespace lloyd::apps
