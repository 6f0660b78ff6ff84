#include "experiment/compare.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/suggestion.hpp>

namespace lloyd::experiment {
namespace {

std::string row_text(const Summary& summary, const SummaryRow& row) {
  const std::string setting = setting_text(summary, row);
  return setting.empty() ? row.backend : fmt::format("{} with {}", row.backend, setting);
}

// The faster of two must not be worse: no speedup without quality.
void hold_to_quality(ComparedRow& row) {
  const bool faster = row.time.verdict == Verdict::faster;
  if (!faster && row.time.verdict != Verdict::slower) return;
  const std::string differs = faster ? quality_difference(row.newer.quality, row.older.quality)
                                     : quality_difference(row.older.quality, row.newer.quality);
  if (differs.empty()) return;
  row.differs = true;
  row.time.verdict = Verdict::unclear;
  row.time.reason = fmt::format("{}: {}", faster ? "new" : "old", differs);
}

void add_row(RunComparison& comparison, const Summary& older, const SummaryRow& old_row,
             const Summary& newer, const SummaryRow& new_row) {
  if (old_row.ok == 0) {
    comparison.without_time.push_back(
        fmt::format("{} (old): {}", row_text(older, old_row), old_row.problem));
  }
  if (new_row.ok == 0) {
    comparison.without_time.push_back(
        fmt::format("{} (new): {}", row_text(newer, new_row), new_row.problem));
  }
  if (old_row.ok == 0 || new_row.ok == 0) return;
  ComparedRow row{old_row, new_row,
                  comparison.paired ? compare_rounds(old_row.samples, new_row.samples)
                                    : compare_runs(old_row.samples, new_row.samples)};
  hold_to_quality(row);
  comparison.rows.push_back(std::move(row));
}

// The mean over two runs is no clearer than its rows: what disturbed one may have disturbed all.
Verdict mean_verdict(const RunComparison& comparison, const std::string& backend,
                     const MedianInterval& ratio) {
  const Verdict verdict = verdict_of(ratio, comparison.paired ? kSameMargin : kRunMargin);
  if (verdict == Verdict::same) return verdict;
  for (const ComparedRow& row : comparison.rows) {
    if (row.newer.backend != backend) continue;
    if (row.differs || (!comparison.paired && row.time.verdict == Verdict::unclear)) {
      return Verdict::unclear;
    }
  }
  return verdict;
}

void finish(RunComparison& comparison) {
  std::vector<std::string> backends;
  std::map<std::string, std::vector<MedianInterval>> ratios;
  for (const ComparedRow& row : comparison.rows) {
    if (!(row.time.ratio.median > 0)) continue;
    std::vector<MedianInterval>& of_backend = ratios[row.newer.backend];
    if (of_backend.empty()) backends.push_back(row.newer.backend);
    of_backend.push_back(row.time.ratio);
  }
  for (const std::string& backend : backends) {
    const MedianInterval mean = geometric_mean(ratios[backend]);
    comparison.means.push_back(
        {backend, mean, mean_verdict(comparison, backend, mean), std::ssize(ratios[backend])});
  }
}

void require_rows(const RunComparison& comparison) {
  if (!comparison.rows.empty()) return;
  if (comparison.without_time.empty()) {
    throw InputError("nothing can be compared: the two have no setting with a backend in common");
  }
  throw InputError(fmt::format("nothing can be compared: no setting has times on both sides ({})",
                               comparison.without_time.front()));
}

}  // namespace

RunComparison compare_recorded_runs(const RecordGroups& older, const RecordGroups& newer) {
  RunComparison comparison;
  comparison.per_iteration = compares_iterations(older) && compares_iterations(newer);
  const Summary old_summary = summarize(older, comparison.per_iteration);
  const Summary new_summary = summarize(newer, comparison.per_iteration);
  comparison.axes = varying_axes_of(old_summary);
  std::map<std::pair<std::string, std::string>, const SummaryRow*> left;  // of the newer run
  for (const SummaryRow& row : new_summary.rows)
    left.emplace(std::pair(row.setting, row.backend), &row);
  for (const SummaryRow& row : old_summary.rows) {
    const auto found = left.find({row.setting, row.backend});
    if (found == left.end()) {
      comparison.only_older.push_back(row_text(old_summary, row));
      continue;
    }
    add_row(comparison, old_summary, row, new_summary, *found->second);
    left.erase(found);
  }
  for (const SummaryRow& row : new_summary.rows) {
    if (left.contains({row.setting, row.backend})) {
      comparison.only_newer.push_back(row_text(new_summary, row));
    }
  }
  require_rows(comparison);
  finish(comparison);
  return comparison;
}

std::vector<std::string> variant_labels(const RecordGroups& run) {
  const std::string& baseline = run.front().front().plan.baseline;
  std::vector<std::string> labels;
  for (const std::vector<Record>& group : run) {
    const std::string& label = group.front().backend.label;
    if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
  }
  std::stable_partition(labels.begin(), labels.end(),
                        [&](const std::string& label) { return label == baseline; });
  return labels;
}

RunComparison compare_variants(const RecordGroups& run, const std::string& older,
                               const std::string& newer) {
  const std::vector<std::string> labels = variant_labels(run);
  for (const std::string& label : {older, newer}) {
    if (std::find(labels.begin(), labels.end(), label) != labels.end()) continue;
    throw InputError(
        fmt::format("the run has no backend '{}'{}", label, suggestion(label, labels)));
  }
  if (older == newer) throw InputError(fmt::format("'{}' cannot be compared to itself", older));
  RunComparison comparison;
  comparison.paired = true;
  RecordGroups both;
  for (const std::vector<Record>& group : run) {
    const std::string& label = group.front().backend.label;
    if (label == older || label == newer) both.push_back(group);
  }
  comparison.per_iteration = compares_iterations(both);
  const Summary summary = summarize(both, comparison.per_iteration);
  comparison.axes = varying_axes_of(summary);
  for (const SummaryRow& old_row : summary.rows) {
    if (old_row.backend != older) continue;
    for (const SummaryRow& new_row : summary.rows) {
      if (new_row.backend != newer || new_row.setting != old_row.setting) continue;
      add_row(comparison, summary, old_row, summary, new_row);
    }
  }
  require_rows(comparison);
  finish(comparison);
  return comparison;
}

bool is_slower_than(const RunComparison& comparison, double share) {
  const auto exceeds = [&](Verdict verdict, const MedianInterval& ratio) {
    return verdict == Verdict::slower && ratio.low > 1 + share;
  };
  return std::any_of(
             comparison.rows.begin(), comparison.rows.end(),
             [&](const ComparedRow& row) { return exceeds(row.time.verdict, row.time.ratio); }) ||
         std::any_of(comparison.means.begin(), comparison.means.end(),
                     [&](const ComparedMean& mean) { return exceeds(mean.verdict, mean.ratio); });
}

}  // namespace lloyd::experiment
