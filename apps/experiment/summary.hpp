// Summary: the records of a run as one row for each setting and variant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiment/plan.hpp"
#include "experiment/quality.hpp"
#include "experiment/record.hpp"
#include "experiment/statistics.hpp"

namespace lloyd::experiment {

struct SummaryRow {
  std::size_t setting = 0;
  std::size_t variant = 0;
  std::int64_t ok = 0;     ///< trials that count
  std::string problem;     ///< "skipped: ...", "1 of 5 failed: ...", "not run"; else empty
  MedianInterval time_ms;  ///< of the trials that count
  std::int64_t fewest_iterations = 0;
  std::int64_t most_iterations = 0;
  Quality quality;
  std::optional<Comparison> comparison;  ///< to the baseline; none for itself or without one
};

struct Summary {
  /// Times are per iteration: every setting runs a fixed number of them and every backend evaluates
  /// all distances. Else they are those of whole fits.
  bool per_iteration = false;
  std::vector<SummaryRow> rows;  ///< in the order of Plan::fits
};

/// `records` by planned fit, in the order of Plan::fits.
Summary summarize(const Plan& plan, const std::vector<std::vector<Record>>& records);

/// A table of at most 100 columns; axes with one value are left out.
std::string summary_table(const Plan& plan, const Summary& summary);
std::string summary_csv(const Plan& plan, const Summary& summary);
nlohmann::ordered_json summary_json(const Plan& plan, const Summary& summary);

}  // namespace lloyd::experiment
