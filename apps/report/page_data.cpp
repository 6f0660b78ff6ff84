#include "report/page_data.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "experiment/record/record.hpp"
#include "experiment/statistics/bootstrap.hpp"
#include "experiment/statistics/statistics.hpp"
#include "experiment/summary/noise.hpp"
#include "experiment/summary/summary.hpp"
#include "json/json_or_null.hpp"
#include "report/page_traces.hpp"

namespace lloyd::report {

using namespace experiment;
using apps::finite_or_null;
using apps::text_or_null;
using nlohmann::ordered_json;

namespace {

// The timings behind the row's median, in the order of the records.
ordered_json samples_json(const std::vector<Record>& records, bool per_iteration) {
  ordered_json samples = ordered_json::array();
  for (const Record& record : records) {
    if (record.status != TrialStatus::ok || !record.fit) continue;
    const double iterations = static_cast<double>(record.fit->iterations);
    samples.push_back(
        rounded(per_iteration ? record.fit->loop_ms / iterations : record.fit->fit_ms));
  }
  return samples;
}

// The lowest and the highest final inertia of the row's trials.
ordered_json inertia_range_json(const std::vector<Record>& records) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Record& record : records) {
    if (record.status != TrialStatus::ok || !record.fit) continue;
    low = std::min(low, record.fit->inertia);
    high = std::max(high, record.fit->inertia);
  }
  return {finite_or_null(low), finite_or_null(high)};
}

// In milliseconds per iteration. Only `overhead_ms` is stored per fit, hence the division. `shares`
// are those of the table of a summary, in percent.
ordered_json phases_json(const SummaryRow& row) {
  if (!row.phases || row.most_iterations == 0) return nullptr;
  const PhaseSummary& phases = *row.phases;
  return {{"transfer", rounded(phases.transfer_ms)},
          {"assignment", rounded(phases.assignment_ms)},
          {"update", rounded(phases.update_ms)},
          {"overhead", rounded(phases.overhead_ms / static_cast<double>(row.most_iterations))},
          {"shares",
           {{"transfer", rounded(phases.transfer_percent)},
            {"assignment", rounded(phases.assignment_percent)},
            {"update", rounded(phases.update_percent)},
            {"overhead", rounded(phases.overhead_percent)}}}};
}

ordered_json published_json(const SummaryRow& row) {
  ordered_json list = ordered_json::array();
  for (const Published& published : row.published) {
    if (published.has_value()) list.push_back(to_json(published));
  }
  return list;
}

ordered_json speedup_json(const SummaryRow& row) {
  if (!row.comparison || !row.comparison->speedup) return nullptr;
  const MedianInterval& speedup = *row.comparison->speedup;
  return {{"value", rounded(speedup.median)},
          {"low", rounded(speedup.low)},
          {"high", rounded(speedup.high)}};
}

// The label of the variant without its number of ranks.
std::string family_of(const Record& record) {
  const std::string& label = record.backend.label;
  const std::string ranks = fmt::format(" ranks={}", record.ranks);
  return label.ends_with(ranks) ? label.substr(0, label.size() - ranks.size()) : label;
}

ordered_json row_json(const SummaryRow& row, const std::vector<Record>& records,
                      const Summary& summary, const std::vector<VaryingAxis>& varying) {
  const Record& first = records.front();
  ordered_json axes = ordered_json::object();
  for (const AxisValue& axis : row.axes) axes[axis.path] = axis.value;
  for (const VaryingAxis& axis : varying) {
    axes[axis.path] = axis.text(row.axes[axis.index].value);
  }
  ordered_json json = {{"setting", row.setting},
                       {"axes", axes},
                       {"backend", row.backend},
                       {"accuracy", text_or_null(row.accuracy)},
                       {"dataset", first.dataset.name},
                       {"dtype", first.dataset.dtype},
                       {"samples", first.dataset.samples},
                       {"features", first.dataset.features},
                       {"clusters", first.clusters},
                       {"baseline", row.is_baseline},
                       {"trials", row.ok},
                       {"problem", text_or_null(row.problem)},
                       {"comparison", text_or_null(speedup_text(row))},
                       {"published", published_json(row)}};
  if (first.ranks > 0) {
    json["ranks"] = first.ranks;
    json["family"] = family_of(first);
  }
  if (row.ok == 0) return json;
  json["time"] = {{"value", rounded(row.time_ms.median)},
                  {"low", rounded(row.time_ms.low)},
                  {"high", rounded(row.time_ms.high)}};
  json["times"] = samples_json(records, summary.per_iteration);
  json["fit_ms"] = rounded(median(values_of(row.fit_timings)));
  json["marked"] = is_marked(summary, row);
  if (has_spread(row)) {
    json["spread"] = rounded(row.spread);
    json["outliers"] = row.outliers;
  }
  json["iterations"] = {row.fewest_iterations, row.most_iterations};
  json["inertia"] = finite_or_null(row.quality.final_inertia);
  json["inertia_range"] = inertia_range_json(records);
  json["adjusted_rand_index"] = finite_or_null(row.adjusted_rand_index);
  json["simplified_silhouette"] = finite_or_null(row.simplified_silhouette);
  json["speedup"] = speedup_json(row);
  json["phases"] = phases_json(row);
  if (row.rates) {
    json["gflop_per_s"] = rounded(row.rates->gflop_per_s);
    json["gb_per_s"] = rounded(row.rates->gb_per_s);
  }
  return json;
}

// One entry per combination of machine and build; values that vary between trials are those of the
// first.
ordered_json machines_json(const RecordedRun& run) {
  ordered_json machines = ordered_json::array();
  std::set<std::string> seen;
  for (const std::vector<Record>& records : run.fits) {
    for (const Record& record : records) {
      const Machine& machine = record.machine;
      const std::string key =
          fmt::format("{}\n{}\n{}\n{}", machine.cpu, machine.os, machine.compiler, machine.lloyd);
      if (seen.insert(key).second) machines.push_back(to_json(record)["machine"]);
    }
  }
  return machines;
}

ordered_json backends_json(const RecordedRun& run) {
  ordered_json backends = ordered_json::array();
  std::set<std::string> seen;
  for (const std::vector<Record>& records : run.fits) {
    const Record& first = records.front();
    if (!seen.insert(first.backend.label).second) continue;
    ordered_json json = to_json(first)["backend"];
    json["notes"] = first.fit ? text_or_null(first.fit->notes) : ordered_json(nullptr);
    backends.push_back(json);
  }
  return backends;
}

ordered_json rows_json(const Summary& summary, const RecordedRun& run) {
  const std::vector<VaryingAxis> varying = varying_axes_of(summary);
  ordered_json rows = ordered_json::array();
  for (std::size_t r = 0; r < summary.rows.size(); ++r) {
    rows.push_back(row_json(summary.rows[r], run.fits[r], summary, varying));
  }
  return rows;
}

// `for_interval`: with fewer trials, an interval is their range.
ordered_json trials_json(const Summary& summary) {
  const TrialCounts counts = count_trials(summary);
  return {
      {"fewest", counts.fewest}, {"most", counts.most}, {"for_interval", kMinTimingsForInterval}};
}

}  // namespace

ordered_json page_data(const RecordedRun& run, const std::filesystem::path& source,
                       const std::string& unfinished, const ordered_json& ceilings) {
  const Summary summary = summarize(run.fits);
  const Record& first = run.fits.front().front();
  ordered_json axes = ordered_json::array();
  for (const VaryingAxis& axis : varying_axes_of(summary)) {
    axes.push_back({{"path", axis.path}, {"header", axis.header}});
  }
  ordered_json sources = ordered_json::array();
  for (const Published& published : sources_of(summary)) sources.push_back(to_json(published));

  ordered_json data;
  data["experiment"] = summary.experiment;
  data["run"] = run.id;
  data["file"] = source.string();
  data["made"] = timestamp();
  data["lloyd"] = LLOYD_VERSION;
  data["baseline"] = text_or_null(summary.baseline);
  data["repeats"] = summary.repeats;
  data["until"] = summary.until;
  data["trials"] = trials_json(summary);
  data["facts"] = data_lines(summary);
  data["per_iteration"] = summary.per_iteration;
  data["mark"] = text_or_null(mark_note(summary));
  data["planned"] = run.planned;
  data["unfinished"] = text_or_null(unfinished);
  data["seeding"] = first.seeding.method;
  data["stop"] = first.stop;
  data["canonical"] = canonical_notes(summary);
  data["empty"] = empty_cluster_notes(summary);
  data["noise"] = text_or_null(noise_text(summary));
  data["axes"] = axes;
  data["rows"] = rows_json(summary, run);
  data["sources"] = sources;
  data["machines"] = machines_json(run);
  data["backends"] = backends_json(run);
  data["ceilings"] = ceilings;
  add_traces(run, data);
  return data;
}

}  // namespace lloyd::report
