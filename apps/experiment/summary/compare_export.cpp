// A comparison as CSV and as JSON, with the same rows and names.
#include "experiment/statistics/statistics.hpp"
#include "experiment/summary/compare.hpp"
#include "json/json_or_null.hpp"
#include "text/csv_text.hpp"

namespace lloyd::experiment {

using apps::finite_or_null;
using apps::text_or_null;
using nlohmann::ordered_json;

namespace {

ordered_json difference(double newer, double older) {
  return newer == older ? ordered_json(0.0) : finite_or_null(newer / older - 1);
}

ordered_json row_json(const RunComparison& comparison, const ComparedRow& row) {
  const std::string unit = comparison.per_iteration ? "ms_per_iteration" : "ms_per_fit";
  ordered_json json;
  json["setting"] = row.older.setting;
  for (const VaryingAxis& axis : comparison.axes) {
    json[axis.path] = row.older.axes[axis.index].value;
  }
  json["old_backend"] = row.older.backend;
  json["new_backend"] = row.newer.backend;
  json["old_" + unit] = finite_or_null(row.older.time_ms.median);
  json["new_" + unit] = finite_or_null(row.newer.time_ms.median);
  if (comparison.per_iteration) {
    json["old_ms_per_fit"] = finite_or_null(median(values_of(row.older.fit_timings)));
    json["new_ms_per_fit"] = finite_or_null(median(values_of(row.newer.fit_timings)));
    json["old_fewer_distances"] = row.older.fewer_distances;
    json["new_fewer_distances"] = row.newer.fewer_distances;
  }
  json["ratio_of"] = comparison.per_iteration && !row.by_fits ? "iteration" : "fit";
  json["old_trials"] = row.older.ok;
  json["new_trials"] = row.newer.ok;
  json["ratio"] = finite_or_null(row.time.ratio.median);
  json["ratio_low"] = finite_or_null(row.time.ratio.low);
  json["ratio_high"] = finite_or_null(row.time.ratio.high);
  json["verdict"] = to_string(row.time.verdict);
  json["reason"] = text_or_null(row.time.reason);
  const Quality& older = row.older.quality;
  const Quality& newer = row.newer.quality;
  json["inertia_difference"] = difference(newer.final_inertia, older.final_inertia);
  json["inertia_after_one_difference"] =
      difference(newer.inertia_after_one, older.inertia_after_one);
  json["old_accuracy"] = text_or_null(row.older.accuracy);
  json["new_accuracy"] = text_or_null(row.newer.accuracy);
  return json;
}

std::vector<ordered_json> rows_json(const RunComparison& comparison) {
  std::vector<ordered_json> rows;
  for (const ComparedRow& row : comparison.rows) rows.push_back(row_json(comparison, row));
  return rows;
}

}  // namespace

std::string comparison_csv(const RunComparison& comparison) {
  return csv_text(rows_json(comparison));
}

ordered_json comparison_json(const RunComparison& comparison) {
  ordered_json means = ordered_json::array();
  for (const ComparedMean& mean : comparison.means) {
    means.push_back({{"backend", mean.backend},
                     {"settings", mean.settings},
                     {"ratio", finite_or_null(mean.ratio.median)},
                     {"ratio_low", finite_or_null(mean.ratio.low)},
                     {"ratio_high", finite_or_null(mean.ratio.high)},
                     {"verdict", to_string(mean.verdict)}});
  }
  ordered_json json;
  json["paired"] = comparison.paired;
  json["rows"] = rows_json(comparison);
  json["geometric_means"] = means;
  json["without_times"] = comparison.without_time;
  json["only_old"] = comparison.only_older;
  json["only_new"] = comparison.only_newer;
  json["warnings"] = comparison.warnings;
  return json;
}

}  // namespace lloyd::experiment
