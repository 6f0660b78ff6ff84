// Summary: the records of a run, reduced to one row for each setting and variant.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
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
#include "experiment/summary/setting_facts.hpp"
#include "experiment/summary/work.hpp"
#include "text/table.hpp"

namespace lloyd::experiment {

struct SummaryRow {
  std::string setting;  ///< hash of the setting
  SettingFacts facts;
  std::vector<AxisValue> axes;
  std::string backend;   ///< label of the variant
  std::string accuracy;  ///< as the backend states it; empty if the plugin is missing
  bool is_baseline = false;
  std::int64_t ok = 0;  ///< number of successful trials
  std::string problem;  ///< "skipped: ...", "1 of 5 failed: ...", "cancelled: ..."; else empty
  Timings timings;      ///< times of the successful trials, in milliseconds
  Timings fit_timings;  ///< `fit_ms` of the same trials, whatever the unit of `timings`
  /// True if a trial evaluated fewer than samples x clusters distances in an iteration, or if it is
  /// not known how many (an external program that does not say). The times of such fits are
  /// compared as a whole only.
  bool fewer_distances = false;
  std::int64_t restarts = 1;
  std::int64_t ranks = 0;  ///< Record::ranks
  MedianInterval time_ms;  ///< median of the timings, with interval
  double spread = 0;       ///< relative spread of the timings, see relative_spread()
  /// number of outliers among the timings, see count_outliers(); none is removed
  std::int64_t outliers = 0;
  std::int64_t fewest_iterations = 0;
  std::int64_t most_iterations = 0;
  std::int64_t max_empty_clusters = 0;  ///< largest number of empty clusters at the end of a fit
  Quality quality;
  /// FitDigest::adjusted_rand_index and simplified_silhouette; NaN: not computed
  double adjusted_rand_index = std::numeric_limits<double>::quiet_NaN();
  double simplified_silhouette = std::numeric_limits<double>::quiet_NaN();
  std::optional<PhaseSummary> phases;      ///< if phases were measured
  std::optional<Rates> rates;              ///< if all distances were evaluated
  std::optional<CounterSummary> counters;  ///< if counters were requested
  std::vector<Published> published;
  /// with the baseline; none for the baseline itself, and without one
  std::optional<Comparison> comparison;
  bool compared_by_fits = false;  ///< `comparison` uses `fit_timings`
};

struct Summary {
  std::string experiment;
  std::string baseline;  ///< label of the baseline; empty: none
  std::int64_t repeats = 1;
  bool until = false;  ///< there may be more rounds than `repeats`
  /// True: times are per iteration, since every setting runs a fixed number of them. False: times
  /// are those of whole fits.
  bool per_iteration = false;
  std::vector<SummaryRow> rows;  ///< in record order
  Disturbances disturbances;
};

/// Summarizes one run from its records alone: one list per planned fit, in plan order. Needs at
/// least one fit, and at least one record for each.
Summary summarize(const std::vector<std::vector<Record>>& records);
/// The same; `per_iteration` selects times per iteration or of whole fits.
Summary summarize(const std::vector<std::vector<Record>>& records, bool per_iteration);
/// Builds a summary from one planned fit at a time, in plan order, keeping a few numbers per trial.
class Summarizer {
 public:
  explicit Summarizer(bool per_iteration) { summary_.per_iteration = per_iteration; }

  /// `fit` must have at least one trial.
  void add(const FitDigest& fit);
  /// Call after at least one add().
  Summary finish();

 private:
  Summary summary_;
  DisturbanceFinder disturbances_;
  std::vector<std::int64_t> settings_;             ///< setting of each row
  std::map<std::int64_t, std::size_t> baselines_;  ///< row of each setting's baseline
};

/// True if every setting runs a fixed number of iterations, so that times are per iteration.
bool has_fixed_iterations(const std::vector<std::vector<Record>>& records);
/// True if the times of two rows may be compared as whole fits only, because they are per iteration
/// and one row evaluates fewer distances.
bool needs_whole_fits(bool per_iteration, const SummaryRow& a, const SummaryRow& b);
/// True if a table marks the row: its time is per iteration, with fewer distances evaluated.
bool is_marked(const Summary& summary, const SummaryRow& row);
bool has_marked_rows(const Summary& summary);
/// True if trials of the row failed while its times are those of others.
bool has_failures(const SummaryRow& row);
/// The meaning of the mark, in one line without "*"; empty if no row is marked.
std::string mark_note(const Summary& summary);

/// Sentences about settings whose fits end with empty clusters: the first five, then one that says
/// that there are more.
std::vector<std::string> empty_cluster_notes(const Summary& summary);

/// Sentences about settings in which backends that state canonical results differ in iterations or
/// inertia, so that at least one of them is wrong: the first five, then one that says that there
/// are more.
std::vector<std::string> canonical_notes(const Summary& summary);

/// The smallest and largest number of trials behind a row's time; 0 if no row has times.
struct TrialCounts {
  std::size_t fewest = 0;
  std::size_t most = 0;
};
TrialCounts count_trials(const Summary& summary);
/// True if the row's spread and outliers are meaningful: they are not with fewer than
/// kMinTimingsForInterval trials or a median of 0.
bool has_spread(const SummaryRow& row);

/// The axes that get a column in tables of the rows.
std::vector<VaryingAxis> varying_axes_of(const Summary& summary);
/// The lines about the data sets and the fixed settings, see facts_lines().
std::vector<std::string> data_lines(const Summary& summary);
/// A row's values on those axes, as "clusters 8, samples 1000"; empty if there are none.
std::string setting_text(const Summary& summary, const SummaryRow& row);
/// True if phases were measured, or profiled quantities published, so that tables of phases are
/// shown.
bool has_phases(const Summary& summary);
/// True if counters were requested.
bool has_counters(const Summary& summary);
/// True if trials ran on ranks.
bool has_ranks(const Summary& summary);
/// The quantities with a published value in any row, in the order of quantities().
std::vector<const Quantity*> published_quantities(const Summary& summary);
/// Returns the published value of a quantity, or null if there is none.
const Published* find_published(const SummaryRow& row, std::string_view quantity);
/// The distinct sources and notes of all published values for each quantity, without the values.
std::vector<Published> sources_of(const Summary& summary);
/// Returns "baseline", the speedup, or the reason against one; empty without a baseline or a time.
std::string speedup_text(const SummaryRow& row);

/// Returns tables of at most `width` columns: times, and phases and rates if measured. If rows were
/// skipped, the first line says which and why. Lines with the data sets come next, see
/// facts_lines(). Axes with a single value are left out. Published
/// values stand beside the measured ones, their sources below.
std::string summary_table(const Summary& summary, std::size_t width = kTableWidth);
/// The same tables in GitHub Markdown, their notes as lists.
std::string summary_markdown(const Summary& summary);
/// The same tables in LaTeX, for the package booktabs, their notes as paragraphs.
std::string summary_latex(const Summary& summary);
std::string summary_csv(const Summary& summary);
/// `output` is the folder of the records.
nlohmann::ordered_json summary_json(const Summary& summary, const std::filesystem::path& output);

}  // namespace lloyd::experiment
