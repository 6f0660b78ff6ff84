#include "fit/choice/cluster_choice.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>

#include "fit/choice/criteria_chart.hpp"
#include "fit/fit_report.hpp"
#include "json/json_or_null.hpp"
#include "options/data_options.hpp"
#include "output/output.hpp"
#include "output/terminal.hpp"
#include "text/csv_text.hpp"
#include "text/numbers.hpp"
#include "text/table.hpp"

namespace lloyd::apps {
namespace {

// Frees the centroids of the fits that cannot be suggested any more.
void drop_centroids(ClusterChoice& choice) {
  const std::vector<std::size_t> best = best_by_any_criterion(choice.criteria);
  for (std::size_t i = 0; i < choice.fits.size(); ++i) {
    if (!std::binary_search(best.begin(), best.end(), i)) choice.fits[i].fit.centroids = {};
  }
}

// The columns of table, CSV and JSON that one fit fills.
nlohmann::ordered_json row_json(const ClusterChoice& choice, std::size_t i) {
  const TriedFit& tried = choice.fits[i];
  const ClusterCriteria& criteria = choice.criteria[i].criteria;
  return {{"clusters", tried.clusters},
          {"inertia", finite_or_null(tried.fit.result.inertia)},
          {"simplified_silhouette", finite_or_null(criteria.silhouette)},
          {"silhouette_samples", criteria.silhouette_samples},
          {"calinski_harabasz", finite_or_null(criteria.calinski_harabasz)},
          {"davies_bouldin", finite_or_null(criteria.davies_bouldin)},
          {"clusters_with_samples", criteria.clusters},
          {"iterations", tried.fit.result.iterations},
          {"seeding_ms", tried.fit.seeding_ms},
          {"fit_ms", tried.fit.fit_ms},
          {"criteria_ms", tried.criteria_ms}};
}

std::vector<nlohmann::ordered_json> rows_json(const ClusterChoice& choice) {
  std::vector<nlohmann::ordered_json> rows;
  for (std::size_t i = 0; i < choice.fits.size(); ++i) rows.push_back(row_json(choice, i));
  return rows;
}

std::string criterion_text(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.4g}", value);
}

std::string table_text(const ClusterChoice& choice) {
  experiment::Table table({{"k", true},
                           {"inertia", true},
                           {"silhouette", true},
                           {"Calinski-Harabasz", true},
                           {"Davies-Bouldin", true},
                           {"iterations", true},
                           {"fit ms", true},
                           {"", false}});
  for (std::size_t i = 0; i < choice.fits.size(); ++i) {
    const TriedFit& tried = choice.fits[i];
    const ClusterCriteria& criteria = choice.criteria[i].criteria;
    table.add({fmt::format("{}", tried.clusters), fmt::format("{:.6g}", tried.fit.result.inertia),
               criterion_text(criteria.silhouette), criterion_text(criteria.calinski_harabasz),
               criterion_text(criteria.davies_bouldin),
               fmt::format("{}", tried.fit.result.iterations),
               experiment::format_number(tried.fit.fit_ms),
               choice.suggestion.index == i ? "suggested" : ""});
  }
  return table.str(result_width());
}

}  // namespace

ClusterChoice choose_clusters(const Dataset& dataset, const std::vector<std::int64_t>& range,
                              const ClusterTrials& trials) {
  using Clock = std::chrono::steady_clock;
  ClusterChoice choice;
  for (const std::int64_t clusters : range) {
    Fit fit = trials.fit(clusters);
    choice.cancelled = fit.cancelled;
    if (fit.cancelled) break;
    const Clock::time_point start = Clock::now();
    try {
      choice.criteria.push_back({clusters, cluster_criteria(dataset, fit.labels, clusters,
                                                            trials.block_rows, trials.stop)});
    } catch (const Cancelled&) {
      choice.cancelled = true;
      break;
    }
    const std::chrono::duration<double, std::milli> spent = Clock::now() - start;
    fit.labels = {};
    choice.fits.push_back({clusters, std::move(fit), spent.count()});
    drop_centroids(choice);
  }
  choice.suggestion = suggest_clusters(choice.criteria);
  return choice;
}

nlohmann::ordered_json to_json(const ClusterChoiceReport& report) {
  const ClusterChoice& choice = report.choice;
  nlohmann::ordered_json json = inputs_json(report.dataset, report.chosen);
  json["seeding"] = seeding_json(report.options.seeding);
  const std::optional<Standardization>& standardization = choice.fits.front().fit.standardization;
  if (standardization) json["standardization"] = to_json(*standardization);
  json["restarts"] = report.options.restarts;
  json["status"] = choice.cancelled ? "cancelled" : "ok";
  json["open_ms"] = report.open_ms;
  json["tried"] = rows_json(choice);
  const std::optional<std::size_t> suggested = choice.suggestion.index;
  json["suggested_clusters"] =
      suggested ? nlohmann::ordered_json(choice.fits[*suggested].clusters) : nullptr;
  json["reason"] = choice.suggestion.reason;
  json["centroids"] =
      suggested ? centroids_json(choice.fits[*suggested].fit) : nlohmann::ordered_json(nullptr);
  json["warnings"] = report.warnings;
  return json;
}

void print(const ClusterChoiceReport& report) {
  const ClusterChoice& choice = report.choice;
  print_inputs(report.dataset, report.chosen, report.options, report.choice.fits.front().fit);
  print_text("\n{}\n", table_text(choice));
  const std::optional<std::size_t> suggested = choice.suggestion.index;
  const std::string suggestion =
      suggested ? fmt::format("suggested k  {}: {}", choice.fits[*suggested].clusters,
                              choice.suggestion.reason)
                : fmt::format("suggested k  none: {}", choice.suggestion.reason);
  print_text("{}", experiment::wrapped(suggestion, result_width()));
  for (const CriteriaOfK& tried : choice.criteria) {
    const std::int64_t sampled = tried.criteria.silhouette_samples;
    if (sampled == 0 || sampled == report.dataset.samples()) continue;
    print_text("silhouette   of {} random samples for k = {} and more\n", sampled, tried.clusters);
    break;
  }
}

void write_criteria(const std::filesystem::path& file, const ClusterChoiceReport& report) {
  NewFile output(file);
  if (lower_case_extension(file) == ".csv") {
    output.write(experiment::csv_text(rows_json(report.choice)));
  } else {
    output.write(criteria_svg(
        data_name(report.dataset), report.choice.criteria,
        [&](std::size_t i) { return report.choice.fits[i].fit.result.inertia; },
        report.choice.suggestion.index));
  }
  output.commit();
}

}  // namespace lloyd::apps
