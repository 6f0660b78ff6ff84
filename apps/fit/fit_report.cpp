#include "fit/fit_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/evaluation.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/json_text.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/internal/status_text.hpp>

#include "fit/measurements.hpp"
#include "json/json_or_null.hpp"
#include "json/parameters_json.hpp"
#include "options/data_options.hpp"
#include "output/output.hpp"
#include "text/names.hpp"
#include "text/numbers.hpp"
#include "text/table.hpp"

namespace lloyd::apps {
namespace {

using experiment::format_ms;

// The agreement of the clusters with the classes; NaN if there are fewer than two classes.
double rand_index(const FitReport& report) {
  const std::vector<std::int32_t> classes = encode_classes(report.dataset.classes);
  return has_several_classes(classes) ? adjusted_rand_index(classes, report.fit.labels)
                                      : std::numeric_limits<double>::quiet_NaN();
}

void print_agreement(const FitReport& report) {
  const std::vector<std::string>& classes = report.dataset.classes;
  if (classes.empty()) return;
  const auto none = std::count(classes.begin(), classes.end(), std::string());
  const std::string samples = none == 0
                                  ? ""
                                  : fmt::format(" of {} of the {} samples",
                                                std::ssize(classes) - none, std::ssize(classes));
  const double index = rand_index(report);
  if (std::isnan(index)) {
    print_text("classes     fewer than two{}, so clusters are not compared with them\n",
               none == 0
                   ? ""
                   : fmt::format(" ({} of the {} samples have none)", none, std::ssize(classes)));
  } else {
    print_text("adjusted Rand index against the classes{}  {:.3f}\n", samples, index);
  }
}

void print_check(const ResultCheck& check, std::int64_t samples) {
  print_text("checked     inertia, and {} by the definition",
             (check.samples == samples ? "all " : fmt::format("{} of ", check.samples)) +
                 format_count(samples, "label"));
  if (check.labels.wrong > 0) print_text(": {} differ", check.labels.wrong);
  print_text(" ({})\n", format_ms(check.ms));
}

// A feature of the printed centroids.
struct CentroidColumn {
  std::string name;
  std::vector<std::string> values;  // one per printed cluster
  std::size_t width = 0;
};

// The column of feature `j` for the first `clusters` clusters. `centroids`: row-major, d features.
CentroidColumn centroid_column(const std::vector<double>& centroids, std::int64_t clusters,
                               std::int64_t d, std::int64_t j,
                               const std::vector<std::string>& names) {
  constexpr std::size_t kMinWidth = 10;
  constexpr int kMinDigits = 5;
  constexpr std::size_t kMaxNameBytes = 16;
  std::vector<double> values;
  for (std::int64_t c = 0; c < clusters; ++c) {
    values.push_back(centroids[static_cast<std::size_t>(c * d + j)]);
  }
  const int digits = experiment::distinguishing_digits(values, kMinDigits);
  CentroidColumn column;
  if (!names.empty()) column.name = shown(names[static_cast<std::size_t>(j)], kMaxNameBytes);
  column.width = std::max(kMinWidth, experiment::text_width(column.name));
  for (const double value : values) {
    column.values.push_back(fmt::format("{:.{}g}", value, digits));
    column.width = std::max(column.width, column.values.back().size());
  }
  return column;
}

void print_clusters(const FitReport& report) {
  constexpr std::int64_t kMaxClusters = 20;
  constexpr std::int64_t kMaxFeatures = 6;
  const Fit& fit = report.fit;
  const std::vector<double> centroids = report.fit.centroids_in_data_units();
  const std::int64_t features = std::min(fit.features, kMaxFeatures);
  print_text(
      "\n{:>7}  {:>10}  centroid{}\n", "cluster", "samples",
      features < fit.features ? fmt::format(" (first {})", format_count(features, "feature")) : "");
  const std::vector<std::string>& names = report.dataset.feature_names;
  const std::int64_t clusters = std::min(fit.clusters, kMaxClusters);
  std::vector<CentroidColumn> columns;
  std::string header(20, ' ');
  for (std::int64_t j = 0; j < features; ++j) {
    columns.push_back(centroid_column(centroids, clusters, fit.features, j, names));
    const CentroidColumn& column = columns.back();
    const std::size_t blanks = column.width - experiment::text_width(column.name) + 1;
    header += std::string(blanks, ' ') + column.name;
  }
  if (!names.empty()) print_text("{}\n", header);
  for (std::int64_t c = 0; c < clusters; ++c) {
    const auto row = static_cast<std::size_t>(c);
    print_text("{:>7}  {:>10} ", c, fit.counts[row]);
    for (const CentroidColumn& column : columns) {
      print_text(" {:>{}}", column.values[row], column.width);
    }
    print_text("\n");
  }
  if (fit.clusters > kMaxClusters) {
    print_text("{:>7}  ({} more clusters)\n", "...", fit.clusters - kMaxClusters);
  }
}

}  // namespace

nlohmann::ordered_json centroids_json(const Fit& fit) {
  const std::int64_t values = fit.clusters * fit.features;
  if (fit.centroids.empty() || values > kMaxJsonCentroidValues) return nullptr;
  const std::vector<double> centroids = fit.centroids_in_data_units();
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (auto row = centroids.begin(); row != centroids.end(); row += fit.features) {
    json.push_back(std::vector<double>(row, row + fit.features));
  }
  return json;
}

nlohmann::ordered_json inputs_json(const Dataset& dataset, const ChosenBackend& chosen) {
  // The fingerprint of a part is not that of the data set.
  nlohmann::ordered_json fingerprint;
  if (dataset.communicator() == nullptr)
    fingerprint = fmt::format("{:016x}", dataset.fingerprint());
  return {{"backend",
           {{"name", chosen.backend->name()},
            {"version", chosen.backend->version()},
            {"parameters", parameters_json(chosen.parameters)},
            {"accuracy", to_string(chosen.backend->accuracy(dataset.dtype()))},
            {"reproducibility", to_string(chosen.backend->reproducibility(dataset.dtype()))}}},
          {"dataset",
           {{"name", data_name(dataset)},
            {"samples", dataset.total_samples()},
            {"features", dataset.features()},
            {"dtype", to_string(dataset.dtype())},
            {"fingerprint", fingerprint},
            {"feature_names", utf8_texts(dataset.feature_names)},
            {"dropped_rows", dataset.dropped_rows}}}};
}

nlohmann::ordered_json seeding_json(const Seeding& seeding) {
  nlohmann::ordered_json json = {{"method", to_string(seeding.method)}, {"seed", seeding.seed}};
  if (seeding.method == SeedingMethod::kmeans_parallel) {
    json["oversampling"] = seeding.oversampling;
    json["rounds"] = seeding.rounds;
  }
  return json;
}

nlohmann::ordered_json to_json(const Standardization& map) {
  return {{"mean", map.mean}, {"deviation", map.deviation}};
}

void print_inputs(const Dataset& dataset, const ChosenBackend& chosen, const FitOptions& options,
                  const Fit& fit) {
  const std::string changes = chosen.parameters.describe_changes();
  const std::string classes = class_column_text(dataset);
  print_text("data        {}: {} of {}, {}{}{}\n", printable(data_name(dataset)),
             format_count(dataset.total_samples(), "sample"),
             format_count(dataset.features(), "feature"), to_string(dataset.dtype()),
             classes.empty() ? "" : "; classes in column ", classes);
  if (fit.standardization) {
    print_text(
        "standardized: the inertia is in standard deviations, centroids in the data's units\n");
  }
  print_text("backend     {}{}{}\n", chosen.backend->name(), changes.empty() ? "" : " ", changes);
  if (!fit.notes.empty()) print_text("notes       {}\n", fit.notes);
  const bool borrowed =
      !fit.seeding_backend.empty() && fit.seeding_backend != chosen.backend->name();
  print_text(
      "seeding     {}, seed {}{}{}\n", to_string(options.seeding.method), options.seeding.seed,
      options.restarts > 1 ? fmt::format(", best of {}", format_count(options.restarts, "restart"))
                           : "",
      borrowed ? fmt::format(", with the kernels of {}", fit.seeding_backend) : "");
}

nlohmann::ordered_json to_json(const FitReport& report) {
  const Dataset& dataset = report.dataset;
  nlohmann::ordered_json json = inputs_json(dataset, report.chosen);
  json["ranks"] = report.ranks;
  add_rank_times(json, report.rank_times);
  json["clusters"] = report.fit.clusters;
  json["seeding"] = seeding_json(report.options.seeding);
  json["seeding"]["ms"] = report.fit.seeding_ms;
  json["seeding"]["backend"] = text_or_null(report.fit.seeding_backend);
  json["restarts"] = report.options.restarts;
  json["resumed_iterations"] = report.fit.resumed_iterations;
  json["status"] = report.fit.cancelled ? "cancelled" : "ok";
  if (report.fit.standardization) {
    json["standardization"] = to_json(*report.fit.standardization);
  }
  experiment::Measurements measured = experiment::measurements_of(report.fit, report.open_ms);
  if (report.complete()) measured.adjusted_rand_index = rand_index(report);
  json.update(experiment::to_json(measured));
  if (report.complete()) json["counts"] = report.fit.counts;
  json["centroids"] = centroids_json(report.fit);
  json["warnings"] = report.warnings;
  return json;
}

void print(const FitReport& report) {
  const Dataset& dataset = report.dataset;
  const Fit& fit = report.fit;
  print_inputs(dataset, report.chosen, report.options, fit);
  if (report.ranks > 1) print_text("ranks       {}\n", report.ranks);
  if (report.rank_times) {
    print_text("communication  {}\n", rank_times_text(*report.rank_times));
  }
  if (report.complete()) print_text("inertia     {:.8g}\n", fit.result.inertia);
  if (fit.resumed_iterations > 0) {
    print_text("resumed     after iteration {}, which times do not include\n",
               fit.resumed_iterations);
  }
  print_text("iterations  {} ({})\n", fit.result.iterations,
             fit.cancelled ? "interrupted"
                           : fmt::format("stopped by {}", to_string(fit.result.stop_reason)));
  if (report.complete()) print_agreement(report);
  print_text("time        statistics {}, seeding {}, opening {}, fit {}\n",
             format_ms(dataset.statistics_ms()), format_ms(fit.seeding_ms),
             format_ms(report.open_ms), format_ms(fit.fit_ms));
  if (fit.check) print_check(*fit.check, dataset.total_samples());
  if (report.complete()) print_clusters(report);
}

}  // namespace lloyd::apps
