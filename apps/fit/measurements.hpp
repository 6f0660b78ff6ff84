// Measurements: the part of a record, and of `lloyd fit --json`, that describes one fit.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <lloyd/fit.hpp>
#include <lloyd/internal/json_fields.hpp>

#include "machine/counters/cpu_counters.hpp"

namespace lloyd::experiment {

/// Times are wall times in milliseconds; see FitResult for the meaning of loop and closing.
struct Measurements {
  std::int64_t iterations = 0;
  std::string stop_reason;
  double inertia = std::numeric_limits<double>::quiet_NaN();
  double open_ms = 0;  ///< opening the session
  double loop_ms = 0;
  double closing_ms = 0;
  double fit_ms = 0;  ///< of all restarts; all other values are of the restart that was kept
  PhaseTimes phases;
  /// Distances evaluated, closing assignment included; negative: an external program did not say.
  std::int64_t distances = 0;
  std::int64_t relocations = 0;
  /// Number of clusters that are empty at the end; no value if the fit was cancelled, and in
  /// records of earlier versions.
  std::optional<std::int64_t> clusters_empty;
  std::int64_t exact_fallbacks = -1;  ///< -1: the backend does not screen
  std::string sum_form;
  std::int64_t restart = 0;  ///< the restart that was kept
  std::string notes;         ///< choices of the backend that depend on the sizes; may be empty
  /// Check of the result; no value if it was not checked, and in records of earlier versions. The
  /// check's inertia is not stored: it equals `inertia`.
  std::optional<ResultCheck> check;
  /// Agreement of the labels with the classes of the data set, see adjusted_rand_index(). NaN if
  /// the data set has no classes and, in records, if the result was not checked or the record is
  /// from an earlier version.
  double adjusted_rand_index = std::numeric_limits<double>::quiet_NaN();
  /// ClusterCriteria::silhouette. NaN if the experiment does not request it, if all samples are in
  /// one cluster, if the result was not checked, or if the record is from an earlier version.
  double simplified_silhouette = std::numeric_limits<double>::quiet_NaN();
  std::int64_t silhouette_samples = 0;  ///< number of samples in this average; 0: none
  /// Of all restarts. No value if the experiment does not request them, for external programs, and
  /// in records of earlier versions.
  std::optional<machine::CpuCounts> counters;
  /// Energy that the GPU used during the timed fit (all restarts), in joules. NaN: no GPU, no
  /// sensor, a fit too short for it, or a record of an earlier version.
  double energy_j = std::numeric_limits<double>::quiet_NaN();
};

/// `open_ms`: milliseconds that opening the session took. Inertia is NaN if the fit has none.
Measurements measurements_of(const Fit& fit, double open_ms);

/// Keys "iterations", "stop_reason", "inertia", "open_ms", ... in this order. Values that were not
/// measured are null; "phase_ms" contains the measured phases only.
nlohmann::ordered_json to_json(const Measurements& measurements);
/// Keys "samples" (number of labels compared), "wrong_labels", "worst_ratio".
nlohmann::ordered_json to_json(const ResultCheck& check);
/// Throws InputError if a key is missing or its value has another type or range.
Measurements measurements_from_json(const JsonFields& json);

}  // namespace lloyd::experiment
