#include "experiment/summary.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace lloyd::experiment {
namespace {

// Fewer distances than samples x clusters in each iteration and the closing assignment: the
// backend skips some, so that its iterations do not compare with others.
bool skips_distances(const Record& record) {
  const Measurements& fit = *record.fit;
  const double all = static_cast<double>(record.dataset.samples) *
                     static_cast<double>(record.clusters) * static_cast<double>(fit.iterations + 1);
  return static_cast<double>(fit.distances) < all;
}

bool counts(const Record& record) {
  return record.status == TrialStatus::ok && record.fit.has_value();
}

bool compares_iterations(const Plan& plan, const std::vector<std::vector<Record>>& records) {
  for (const PlannedSetting& planned : plan.settings) {
    if (!planned.setting.options.fixed_iterations) return false;
  }
  for (const std::vector<Record>& group : records) {
    for (const Record& record : group) {
      if (counts(record) && skips_distances(record)) return false;
    }
  }
  return true;
}

std::string problem_of(const std::vector<Record>& records) {
  if (records.empty()) return "not run";
  std::map<TrialStatus, std::int64_t> counts;
  for (const Record& record : records) ++counts[record.status];
  for (const TrialStatus status : {TrialStatus::skipped, TrialStatus::failed}) {
    for (const Record& record : records) {
      if (record.status != status) continue;
      if (status == TrialStatus::skipped) return fmt::format("skipped: {}", record.reason);
      const auto all = static_cast<std::int64_t>(records.size());
      if (counts[status] == all) return fmt::format("failed: {}", record.reason);
      return fmt::format("{} of {} failed: {}", counts[status], all, record.reason);
    }
  }
  return counts[TrialStatus::ok] == 0 ? "cancelled" : "";
}

SummaryRow make_row(const Plan& plan, const PlannedFit& fit, const std::vector<Record>& records,
                    bool per_iteration) {
  SummaryRow row;
  row.setting = fit.setting;
  row.variant = fit.variant;
  row.problem = problem_of(records);
  const DatasetFacts& dataset = plan.settings[fit.setting].dataset;
  row.quality.samples = dataset.samples;
  row.quality.accuracy = plan.variants[fit.variant].backend->accuracy(dataset.dtype);
  std::vector<double> times;
  std::vector<double> inertias;
  row.fewest_iterations = std::numeric_limits<std::int64_t>::max();
  for (const Record& record : records) {
    if (!counts(record)) continue;
    const Measurements& measured = *record.fit;
    times.push_back(per_iteration ? measured.loop_ms / static_cast<double>(measured.iterations)
                                  : measured.fit_ms);
    inertias.push_back(measured.inertia);
    row.fewest_iterations = std::min(row.fewest_iterations, measured.iterations);
    row.most_iterations = std::max(row.most_iterations, measured.iterations);
    if (record.after_one) {
      row.quality.inertia_after_one = record.after_one->inertia;
      row.quality.wrong_labels = record.after_one->labels.wrong;
    }
  }
  row.ok = static_cast<std::int64_t>(times.size());
  row.time_ms = median_interval(times);
  row.quality.final_inertia = median(inertias);
  return row;
}

Comparison compare_rows(const SummaryRow& row, const SummaryRow& baseline) {
  if (baseline.ok == 0) return {{}, "no baseline: " + baseline.problem};
  return compare(row.quality, row.time_ms.median, baseline.quality, baseline.time_ms.median);
}

}  // namespace

Summary summarize(const Plan& plan, const std::vector<std::vector<Record>>& records) {
  Summary summary;
  summary.per_iteration = compares_iterations(plan, records);
  for (std::size_t f = 0; f < plan.fits.size(); ++f) {
    summary.rows.push_back(make_row(plan, plan.fits[f], records[f], summary.per_iteration));
  }
  if (!plan.baseline) return summary;
  for (SummaryRow& row : summary.rows) {
    if (row.variant == *plan.baseline || row.ok == 0) continue;
    const std::size_t at = row.setting * plan.variants.size() + *plan.baseline;
    row.comparison = compare_rows(row, summary.rows[at]);
  }
  return summary;
}

}  // namespace lloyd::experiment
