// Compares two runs, or two variants of one run, setting by setting.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiment/statistics/verdict.hpp"
#include "experiment/summary/summary.hpp"
#include "text/table.hpp"

namespace lloyd::experiment {

/// One setting with one variant, or with the two variants that are compared.
struct ComparedRow {
  SummaryRow older;
  SummaryRow newer;
  TimeRatio time;
  bool differs = false;  ///< quality differs too much to compare times
  bool by_fits = false;  ///< `time` compares whole fits although the run's times are per iteration
};

/// The mean ratio of one variant over all settings.
struct ComparedMean {
  std::string backend;  ///< label of the newer variant
  MedianInterval ratio;
  Verdict verdict;
  std::int64_t settings = 0;
};

struct RunComparison {
  bool paired = false;         ///< two variants of one run, compared round by round
  bool per_iteration = false;  ///< true: times per iteration; false: times of whole fits
  std::vector<VaryingAxis> axes;
  std::vector<ComparedRow> rows;          ///< rows with times on both sides
  std::vector<ComparedMean> means;        ///< one per variant, over all settings
  std::vector<std::string> without_time;  ///< rows without a time: which, on which side, why
  std::vector<std::string> only_older;    ///< rows of the older run only; empty if paired
  std::vector<std::string> only_newer;
  /// Differences of the programs and of the conditions of two runs, which the ratios reflect.
  std::vector<std::string> warnings;
};

using RecordGroups = std::vector<std::vector<Record>>;

/// Compares two runs: matches rows by setting hash and variant label; of the others, those of the
/// same setting hash, backend and parameters, if the match is unique. If the rule of quality.hpp
/// forbids comparing the faster side, the row is unclear. Throws InputError if they have no row in
/// common, with what differs, or none with times on both sides.
RunComparison compare_recorded_runs(const RecordGroups& older, const RecordGroups& newer);

/// Compares two variants of one run, given by label. Throws InputError for a label that the run
/// does not have, and if no setting has times of both.
RunComparison compare_variants(const RecordGroups& run, const std::string& older,
                               const std::string& newer);

/// Returns the labels of a run's variants, the baseline first.
std::vector<std::string> variant_labels(const RecordGroups& run);

/// True if a row or a mean is slower and the lower end of its ratio's interval exceeds 1 + `share`.
bool is_slower_than(const RunComparison& comparison, double share);

/// A table and notes in lines of at most `width` columns.
std::string comparison_text(const RunComparison& comparison, std::size_t width = kTableWidth);
std::string comparison_markdown(const RunComparison& comparison);
std::string comparison_csv(const RunComparison& comparison);
nlohmann::ordered_json comparison_json(const RunComparison& comparison);

}  // namespace lloyd::experiment
