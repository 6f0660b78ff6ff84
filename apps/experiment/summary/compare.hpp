// Compares two runs, or two variants of one run, setting by setting.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiment/statistics/verdict.hpp"
#include "experiment/summary/summary.hpp"

namespace lloyd::experiment {

/// One setting with one variant, or with the two that are compared.
struct ComparedRow {
  SummaryRow older;
  SummaryRow newer;
  TimeRatio time;
  bool differs = false;  ///< in quality, so that nothing may be said of time
  bool by_fits = false;  ///< `time` is of whole fits, though times are per iteration
};

struct ComparedMean {
  std::string backend;  ///< the newer one's label
  MedianInterval ratio;
  Verdict verdict;
  std::int64_t settings = 0;
};

struct RunComparison {
  bool paired = false;         ///< two variants of one run, round by round
  bool per_iteration = false;  ///< times are per iteration, else of whole fits
  std::vector<VaryingAxis> axes;
  std::vector<ComparedRow> rows;          ///< that have times on both sides
  std::vector<ComparedMean> means;        ///< over the settings, by variant
  std::vector<std::string> without_time;  ///< which row, on which side, and why
  std::vector<std::string> only_older;    ///< which row; nothing when it is paired
  std::vector<std::string> only_newer;
  std::vector<std::string>
      warnings;  ///< why ratios may not be those of the programs; two runs only
};

using RecordGroups = std::vector<std::vector<Record>>;

/// Two runs: rows of the same setting, by its hash, and the same variant, by its label. A faster
/// side that the rule of quality.hpp does not let be compared makes a row unclear. Throws
/// InputError when they have no row in common, or none with times on both sides.
RunComparison compare_recorded_runs(const RecordGroups& older, const RecordGroups& newer);

/// Two variants of one run, by label. Throws InputError for a label that the run does not have, and
/// when no setting has times of both.
RunComparison compare_variants(const RecordGroups& run, const std::string& older,
                               const std::string& newer);

/// Labels of the variants of a run, its baseline first.
std::vector<std::string> variant_labels(const RecordGroups& run);

/// Whether a row, or a mean, is slower and the lower end of its ratio's interval is above 1 +
/// `share`.
bool is_slower_than(const RunComparison& comparison, double share);

std::string comparison_text(const RunComparison& comparison);
std::string comparison_markdown(const RunComparison& comparison);
std::string comparison_csv(const RunComparison& comparison);
nlohmann::ordered_json comparison_json(const RunComparison& comparison);

}  // namespace lloyd::experiment
