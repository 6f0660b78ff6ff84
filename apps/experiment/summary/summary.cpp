#include "experiment/summary/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include <lloyd/internal/shown.hpp>
#include <lloyd/internal/status_text.hpp>

#include "experiment/statistics/bootstrap.hpp"
#include "experiment/statistics/statistics.hpp"
#include "text/names.hpp"
#include "text/numbers.hpp"

namespace lloyd::experiment {
namespace {

std::string problem_of(const std::vector<TrialDigest>& trials) {
  std::map<TrialStatus, std::int64_t> counts;
  for (const TrialDigest& trial : trials) ++counts[trial.status];
  for (const TrialStatus status :
       {TrialStatus::skipped, TrialStatus::failed, TrialStatus::timed_out}) {
    for (const TrialDigest& trial : trials) {
      if (trial.status != status) continue;
      if (status == TrialStatus::skipped) return fmt::format("skipped: {}", trial.reason());
      const auto all = static_cast<std::int64_t>(trials.size());
      if (counts[status] == all) return fmt::format("{}: {}", to_string(status), trial.reason());
      return fmt::format("{} of {} {}: {}", counts[status], all, to_string(status), trial.reason());
    }
  }
  return counts[TrialStatus::ok] == 0 ? fmt::format("cancelled: {}", trials.front().reason()) : "";
}

// The beginning of a text of any length, such as a reason in a record.
std::string beginning_of(const std::string& text) {
  constexpr std::size_t kMaxBytes = 1000;
  const std::string_view beginning = cut_text(text, kMaxBytes);
  return std::string(beginning) + (beginning.size() < text.size() ? "..." : "");
}

SummaryRow make_row(const FitDigest& fit, bool per_iteration) {
  SummaryRow row;
  row.setting = fit.setting;
  row.facts = setting_facts_of(fit);
  row.axes = fit.axes;
  row.backend = fit.backend;
  row.is_baseline = !fit.baseline.empty() && row.backend == fit.baseline;
  row.problem = beginning_of(problem_of(fit.trials));
  row.quality.samples = fit.samples;
  row.accuracy = fit.accuracy;
  if (!row.accuracy.empty()) row.quality.accuracy = apps::parse_accuracy(row.accuracy);
  row.published = fit.published;
  std::vector<double> iteration_times;
  std::vector<double> inertias;
  row.restarts = fit.restarts;
  row.ranks = fit.ranks;
  row.fewest_iterations = std::numeric_limits<std::int64_t>::max();
  for (const TrialDigest& trial : fit.trials) {
    if (!trial.counts()) continue;
    iteration_times.push_back(trial.loop_ms / static_cast<double>(trial.iterations));
    row.timings[trial.repeat] = per_iteration ? iteration_times.back() : trial.fit_ms;
    row.fit_timings[trial.repeat] = trial.fit_ms;
    row.fewer_distances = row.fewer_distances || trial.skips_distances;
    inertias.push_back(trial.inertia);
    row.fewest_iterations = std::min(row.fewest_iterations, trial.iterations);
    row.most_iterations = std::max(row.most_iterations, trial.iterations);
    if (trial.extras)
      row.max_empty_clusters = std::max(row.max_empty_clusters, trial.extras->clusters_empty);
  }
  if (fit.after_one) {
    row.quality.inertia_after_one = fit.after_one->inertia;
    row.quality.wrong_labels = fit.after_one->labels.wrong;
    if (fit.after_one->labels.samples > 0) {
      row.quality.checked_labels = fit.after_one->labels.samples;
    }
  }
  row.adjusted_rand_index = fit.adjusted_rand_index;
  row.simplified_silhouette = fit.simplified_silhouette;
  row.ok = std::ssize(row.timings);
  const std::vector<double> times = values_of(row.timings);
  row.time_ms = median_interval(times);
  row.spread = relative_spread(times);
  row.outliers = count_outliers(times);
  row.quality.final_inertia = median(inertias);
  row.quality.canonical = fit.canonical;
  if (row.ok > 0 && row.fewest_iterations == row.most_iterations) {
    row.quality.iterations = row.most_iterations;
  }
  row.phases = phases_of(fit);
  row.counters = counters_of(fit);
  // No rate if the clock's resolution is too coarse for the iteration.
  const double iteration_ms = median(iteration_times);
  if (iteration_ms > 0 && !row.fewer_distances) row.rates = rates_of(fit, iteration_ms);
  return row;
}

Comparison compare_rows(const SummaryRow& row, const SummaryRow& baseline) {
  if (baseline.ok == 0) return {{}, "no baseline: " + baseline.problem};
  const std::vector<double> ratios = row.compared_by_fits
                                         ? paired_ratios(baseline.fit_timings, row.fit_timings)
                                         : paired_ratios(baseline.timings, row.timings);
  if (ratios.empty()) return {{}, "no round has both this and the baseline"};
  const auto is_ratio = [](double ratio) { return std::isfinite(ratio) && ratio > 0; };
  if (!std::all_of(ratios.begin(), ratios.end(), is_ratio)) return {{}, "too fast to compare"};
  return compare(row.quality, baseline.quality, ratio_interval(ratios));
}

}  // namespace

bool has_fixed_iterations(const std::vector<std::vector<Record>>& records) {
  return std::all_of(records.begin(), records.end(), [](const std::vector<Record>& group) {
    return std::all_of(group.begin(), group.end(),
                       [](const Record& record) { return record.stop.contains("iterations"); });
  });
}

bool needs_whole_fits(bool per_iteration, const SummaryRow& a, const SummaryRow& b) {
  return per_iteration && (a.fewer_distances || b.fewer_distances);
}

bool is_marked(const Summary& summary, const SummaryRow& row) {
  return summary.per_iteration && row.fewer_distances;
}

bool has_marked_rows(const Summary& summary) {
  return std::any_of(summary.rows.begin(), summary.rows.end(),
                     [&](const SummaryRow& row) { return is_marked(summary, row); });
}

bool has_failures(const SummaryRow& row) {
  return row.ok > 0 && !row.problem.empty();
}

std::string mark_note(const Summary& summary) {
  if (!has_marked_rows(summary)) return "";
  std::string note =
      "evaluates fewer distances than samples x clusters in an iteration, or does not say how "
      "many: "
      "only its whole fits compare with others (ms/fit)";
  if (!summary.baseline.empty()) note += "; a speedup of or over such a row is of whole fits";
  return note;
}

std::vector<std::string> empty_cluster_notes(const Summary& summary) {
  constexpr std::size_t kMaxNotes = 5;
  std::vector<std::string> notes;
  bool more = false;
  for (const SummaryRow& row : summary.rows) {
    if (row.max_empty_clusters == 0) continue;
    const std::int64_t clusters = row.facts.clusters;
    const char* const verb = row.max_empty_clusters == 1 ? "is" : "are";
    const std::string setting = setting_text(summary, row);
    // At inertia 0 each cluster is one distinct sample, see empty_cluster_warnings().
    std::string note =
        row.quality.final_inertia == 0
            ? fmt::format("{} has only {}, so {} of the {} clusters {} empty",
                          shown(row.facts.dataset, 200),
                          format_count(clusters - row.max_empty_clusters, "distinct sample"),
                          row.max_empty_clusters, clusters, verb)
            : fmt::format("{} of the {} clusters {} empty{}", row.max_empty_clusters, clusters,
                          verb, setting.empty() ? "" : fmt::format(" with {}", setting));
    if (std::find(notes.begin(), notes.end(), note) != notes.end()) continue;
    if (notes.size() == kMaxNotes) {
      more = true;
    } else {
      notes.push_back(std::move(note));
    }
  }
  if (more) notes.emplace_back("fits of other settings end with empty clusters as well");
  return notes;
}

std::vector<std::string> canonical_notes(const Summary& summary) {
  constexpr std::size_t kMaxNotes = 5;
  std::map<std::string, const SummaryRow*> firsts;  // the first canonical row of each setting
  std::vector<std::string> notes;
  for (const SummaryRow& row : summary.rows) {
    if (row.ok == 0 || !row.quality.canonical) continue;
    const SummaryRow& first = *firsts.emplace(row.setting, &row).first->second;
    if (canonical_difference(row.quality, first.quality).empty()) continue;
    if (notes.size() == kMaxNotes) {
      notes.emplace_back("canonical backends differ in other settings as well");
      break;
    }
    const auto result = [](const SummaryRow& of) {
      return fmt::format(
          "{} has {} and inertia {}", of.backend,
          of.quality.iterations == 0
              ? fmt::format("{} to {} iterations", of.fewest_iterations, of.most_iterations)
              : format_count(of.quality.iterations, "iteration"),
          of.quality.final_inertia);
    };
    const std::string setting = setting_text(summary, row);
    notes.push_back(fmt::format(
        "{}{}, {}; both state canonical results, which are the same bits, so one of them is wrong: "
        "lloyd verify finds out which",
        setting.empty() ? "" : fmt::format("with {}, ", setting), result(first), result(row)));
  }
  return notes;
}

Summary summarize(const std::vector<std::vector<Record>>& records) {
  return summarize(records, has_fixed_iterations(records));
}

void Summarizer::add(const FitDigest& fit) {
  if (summary_.rows.empty()) {
    summary_.experiment = fit.experiment;
    summary_.baseline = fit.baseline;
    summary_.until = fit.until;
  }
  summary_.repeats = std::max(summary_.repeats, fit.repeats);
  disturbances_.add(fit);
  summary_.rows.push_back(make_row(fit, summary_.per_iteration));
  settings_.push_back(fit.plan_setting);
  if (summary_.rows.back().is_baseline) {
    baselines_.emplace(fit.plan_setting, summary_.rows.size() - 1);
  }
}

Summary Summarizer::finish() {
  summary_.disturbances = disturbances_.finish();
  for (std::size_t r = 0; r < summary_.rows.size(); ++r) {
    SummaryRow& row = summary_.rows[r];
    if (summary_.baseline.empty() || row.is_baseline || row.ok == 0) continue;
    const auto found = baselines_.find(settings_[r]);
    if (found == baselines_.end()) {
      row.comparison = Comparison{{}, "no baseline: it left no record"};
      continue;
    }
    const SummaryRow& baseline = summary_.rows[found->second];
    row.compared_by_fits = needs_whole_fits(summary_.per_iteration, row, baseline);
    row.comparison = compare_rows(row, baseline);
  }
  return std::move(summary_);
}

Summary summarize(const std::vector<std::vector<Record>>& records, bool per_iteration) {
  Summarizer summarizer(per_iteration);
  for (const std::vector<Record>& fit : records) summarizer.add(FitDigest(fit));
  return summarizer.finish();
}

TrialCounts count_trials(const Summary& summary) {
  TrialCounts counts;
  for (const SummaryRow& row : summary.rows) {
    if (row.timings.empty()) continue;
    counts.fewest =
        counts.most == 0 ? row.timings.size() : std::min(counts.fewest, row.timings.size());
    counts.most = std::max(counts.most, row.timings.size());
  }
  return counts;
}

bool has_spread(const SummaryRow& row) {
  return row.timings.size() >= kMinTimingsForInterval && std::isfinite(row.spread);
}

std::vector<VaryingAxis> varying_axes_of(const Summary& summary) {
  std::vector<std::vector<AxisValue>> settings;
  for (const SummaryRow& row : summary.rows) settings.push_back(row.axes);
  return varying_axes(settings);
}

std::vector<std::string> data_lines(const Summary& summary) {
  std::vector<SettingFacts> settings;
  for (const SummaryRow& row : summary.rows) {
    if (settings.empty() || settings.back() != row.facts) settings.push_back(row.facts);
  }
  return facts_lines(settings);
}

std::string setting_text(const Summary& summary, const SummaryRow& row) {
  std::string text;
  for (const VaryingAxis& axis : varying_axes_of(summary)) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", axis.header, axis.text(row.axes[axis.index].value));
  }
  return text;
}

bool has_phases(const Summary& summary) {
  const std::vector<const Quantity*> published = published_quantities(summary);
  return std::any_of(summary.rows.begin(), summary.rows.end(),
                     [](const SummaryRow& row) { return row.phases.has_value(); }) ||
         std::any_of(published.begin(), published.end(),
                     [](const Quantity* quantity) { return quantity->profiled; });
}

bool has_counters(const Summary& summary) {
  return std::any_of(summary.rows.begin(), summary.rows.end(),
                     [](const SummaryRow& row) { return row.counters.has_value(); });
}

bool has_ranks(const Summary& summary) {
  return std::any_of(summary.rows.begin(), summary.rows.end(),
                     [](const SummaryRow& row) { return row.ranks > 0; });
}

std::vector<const Quantity*> published_quantities(const Summary& summary) {
  std::vector<const Quantity*> result;
  for (const Quantity& quantity : quantities()) {
    if (std::any_of(summary.rows.begin(), summary.rows.end(), [&](const SummaryRow& row) {
          return find_published(row, quantity.name) != nullptr;
        })) {
      result.push_back(&quantity);
    }
  }
  return result;
}

const Published* find_published(const SummaryRow& row, std::string_view quantity) {
  const auto found =
      std::find_if(row.published.begin(), row.published.end(), [&](const Published& published) {
        return published.has_value() && published.quantity == quantity;
      });
  return found == row.published.end() ? nullptr : &*found;
}

std::vector<Published> sources_of(const Summary& summary) {
  std::vector<Published> sources;
  for (const SummaryRow& row : summary.rows) {
    for (Published published : row.published) {
      published.number.reset();
      published.text.clear();
      if (std::find(sources.begin(), sources.end(), published) == sources.end()) {
        sources.push_back(std::move(published));
      }
    }
  }
  return sources;
}

std::string speedup_text(const SummaryRow& row) {
  if (row.is_baseline) return "baseline";
  return row.comparison ? row.comparison->text : "";
}

}  // namespace lloyd::experiment
