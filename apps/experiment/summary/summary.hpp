// Summary: the records of a run as one row for each setting and variant.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiment/plan/varying_axes.hpp"
#include "experiment/record/fit_digest.hpp"
#include "experiment/record/record.hpp"
#include "experiment/statistics/quality.hpp"
#include "experiment/statistics/timings.hpp"
#include "experiment/summary/disturbances.hpp"
#include "experiment/summary/work.hpp"

namespace lloyd::experiment {

struct SummaryRow {
  std::string setting;  ///< its hash
  std::vector<AxisValue> axes;
  std::string backend;   ///< label of the variant
  std::string accuracy;  ///< as stated; empty where the plugin is missing
  bool is_baseline = false;
  std::int64_t ok = 0;  ///< trials that count
  std::string problem;  ///< "skipped: ...", "1 of 5 failed: ...", "cancelled: ..."; else empty
  Timings timings;      ///< times of the trials that count
  Timings fit_timings;  ///< the same trials' `fit_ms`, whatever the unit of `timings`
  /// Some trial evaluated fewer than samples x clusters distances in an iteration: its fits compare
  /// to others as a whole only.
  bool fewer_distances = false;
  std::int64_t restarts = 1;
  MedianInterval time_ms;     ///< of the timings
  double spread = 0;          ///< of the timings, see relative_spread()
  std::int64_t outliers = 0;  ///< among the timings, see count_outliers(); none is left out
  std::int64_t fewest_iterations = 0;
  std::int64_t most_iterations = 0;
  Quality quality;
  std::optional<PhaseSummary> phases;  ///< where they were measured
  std::optional<Rates> rates;          ///< where all distances were evaluated
  std::vector<Published> published;
  std::optional<Comparison> comparison;  ///< to the baseline; none for itself or without one
  bool compared_by_fits = false;         ///< `comparison` is of `fit_timings`
};

struct Summary {
  std::string experiment;
  std::string baseline;  ///< label; empty: none
  std::int64_t repeats = 1;
  bool until = false;  ///< there may be more than `repeats`
  /// Times are per iteration: every setting runs a fixed number of them. Else they are those of
  /// whole fits.
  bool per_iteration = false;
  std::vector<SummaryRow> rows;  ///< in the order of the records
  Disturbances disturbances;
};

/// The summary of one run, from nothing but its records: by planned fit, in the order of the plan,
/// at least one fit and each with at least one record.
Summary summarize(const std::vector<std::vector<Record>>& records);
/// The same with times per iteration or of whole fits.
Summary summarize(const std::vector<std::vector<Record>>& records, bool per_iteration);
/// Makes a summary from one planned fit after the other, in the order of the plan, of whose trials
/// it keeps some numbers each.
class Summarizer {
 public:
  explicit Summarizer(bool per_iteration) { summary_.per_iteration = per_iteration; }

  /// `fit`: at least one trial.
  void add(const FitDigest& fit);
  /// After at least one fit was added.
  Summary finish();

 private:
  Summary summary_;
  DisturbanceFinder disturbances_;
  std::vector<std::int64_t> settings_;             ///< by row
  std::map<std::int64_t, std::size_t> baselines_;  ///< row, by setting
};

/// Whether every setting runs a fixed number of iterations, so that times are per iteration.
bool has_fixed_iterations(const std::vector<std::vector<Record>>& records);
/// Whether the times of these two rows may only be compared as whole fits: they are per iteration,
/// and one of them evaluates fewer distances.
bool needs_whole_fits(bool per_iteration, const SummaryRow& a, const SummaryRow& b);
/// Whether a table marks the row: its time is per iteration, of fewer distances.
bool is_marked(const Summary& summary, const SummaryRow& row);
bool has_marked_rows(const Summary& summary);
/// What the mark stands for, in one line without "*"; empty where no row is marked.
std::string mark_note(const Summary& summary);

/// Of how many trials the rows' times are; 0 where no row has any.
struct TrialCounts {
  std::size_t fewest = 0;
  std::size_t most = 0;
};
TrialCounts count_trials(const Summary& summary);
/// Whether a row's spread and outliers say something: of fewer than kMinTimingsForInterval trials
/// they are a matter of chance, and relative to a median of 0 there are none.
bool has_spread(const SummaryRow& row);

/// The axes that a table of the rows has columns for.
std::vector<VaryingAxis> varying_axes_of(const Summary& summary);
/// "clusters 8, samples 1000": where a row stands on those axes; empty without any.
std::string setting_text(const Summary& summary, const SummaryRow& row);
/// What is measured of phases or published of profiled quantities calls for tables of its own.
bool has_phases(const Summary& summary);
/// The quantities that are published of some row, in the order of quantities().
std::vector<const Quantity*> published_quantities(const Summary& summary);
/// The published value of a quantity; null where there is none.
const Published* find_published(const SummaryRow& row, std::string_view quantity);
/// Sources and notes of all that is published, once each for a quantity, without values.
std::vector<Published> sources_of(const Summary& summary);
/// "baseline", the speedup, or what forbids one; empty without a baseline or a time.
std::string speedup_text(const SummaryRow& row);

/// Tables of at most 100 columns, in which axes with one value are left out: times, and where they
/// were measured phases and rates. What is published stands beside, its sources below.
std::string summary_table(const Summary& summary);
std::string summary_csv(const Summary& summary);
/// `output`: the folder of the records.
nlohmann::ordered_json summary_json(const Summary& summary, const std::filesystem::path& output);

}  // namespace lloyd::experiment
