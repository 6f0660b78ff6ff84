// lloyd fit: clusters one file with one backend.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lloyd/data/csv.hpp>
#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>
#include <lloyd/evaluation.hpp>
#include <lloyd/fit.hpp>

#include "backend_options.hpp"
#include "context.hpp"
#include "data_options.hpp"
#include "experiment/measurements.hpp"
#include "experiment/setting_json.hpp"
#include "fit_progress.hpp"
#include "model.hpp"
#include "names.hpp"
#include "output.hpp"
#include "seeding_option.hpp"

namespace lloyd::apps {
namespace {

struct FitCommandOptions {
  DataOptions data;
  BackendOptions backend;
  FitOptions fit;
  std::string seeding = "k-means++";
  std::string empty_clusters = "relocate";
  std::int64_t iterations = 0;  // 0: until convergence
  std::string labels, centroids, model, output;
  bool json = false;
};

struct Outcome {
  const Dataset& dataset;
  const ChosenBackend& chosen;
  const FitOptions& options;
  const Fit& fit;
  double open_ms;
  bool has_classes;
  double adjusted_rand_index;
};

nlohmann::ordered_json to_json(const Outcome& outcome) {
  const Dataset& dataset = outcome.dataset;
  const Seeding& seeding = outcome.options.seeding;
  nlohmann::ordered_json json = {
      {"backend",
       {{"name", outcome.chosen.backend->name()},
        {"version", outcome.chosen.backend->version()},
        {"parameters", experiment::parameters_json(outcome.chosen.parameters)},
        {"accuracy", to_string(outcome.chosen.backend->accuracy(dataset.dtype()))},
        {"reproducibility", to_string(outcome.chosen.backend->reproducibility(dataset.dtype()))}}},
      {"dataset",
       {{"name", dataset.name()},
        {"samples", dataset.samples()},
        {"features", dataset.features()},
        {"dtype", to_string(dataset.dtype())},
        {"fingerprint", fmt::format("{:016x}", dataset.fingerprint())}}},
      {"clusters", outcome.fit.clusters},
      {"seeding",
       {{"method", to_string(seeding.method)},
        {"seed", seeding.seed},
        {"ms", outcome.fit.seeding_ms}}},
      {"restarts", outcome.options.restarts},
      {"status", outcome.fit.cancelled ? "cancelled" : "ok"}};
  json.update(experiment::to_json(experiment::measurements_of(outcome.fit, outcome.open_ms)));
  json["counts"] = outcome.fit.counts;
  if (outcome.has_classes) json["adjusted_rand_index"] = outcome.adjusted_rand_index;
  return json;
}

void print_clusters(const Outcome& outcome) {
  constexpr std::int64_t kMostClusters = 20;
  constexpr std::int64_t kMostFeatures = 6;
  const Fit& fit = outcome.fit;
  const std::int64_t features = std::min(fit.features, kMostFeatures);
  fmt::print("\n{:>7}  {:>10}  centroid{}\n", "cluster", "samples",
             features < fit.features ? fmt::format(" (first {} features)", features) : "");
  for (std::int64_t c = 0; c < std::min(fit.clusters, kMostClusters); ++c) {
    fmt::print("{:>7}  {:>10} ", c, fit.counts[static_cast<std::size_t>(c)]);
    for (std::int64_t j = 0; j < features; ++j) {
      fmt::print(" {:>10.5g}", fit.centroids[static_cast<std::size_t>(c * fit.features + j)]);
    }
    fmt::print("\n");
  }
  if (fit.clusters > kMostClusters) {
    fmt::print("{:>7}  ({} more clusters)\n", "...", fit.clusters - kMostClusters);
  }
}

void print_text(const Outcome& outcome) {
  const Dataset& dataset = outcome.dataset;
  const Fit& fit = outcome.fit;
  const std::string changes = outcome.chosen.parameters.describe_changes();
  fmt::print("data        {}: {} samples of {} features, {}\n", dataset.name(), dataset.samples(),
             dataset.features(), to_string(dataset.dtype()));
  fmt::print("backend     {}{}{}\n", outcome.chosen.backend->name(), changes.empty() ? "" : " ",
             changes);
  fmt::print("seeding     {}, seed {}{}\n", to_string(outcome.options.seeding.method),
             outcome.options.seeding.seed,
             outcome.options.restarts > 1
                 ? fmt::format(", best of {} restarts", outcome.options.restarts)
                 : "");
  fmt::print("inertia     {:.8g}\n", fit.result.inertia);
  fmt::print("iterations  {} (stopped by {})\n", fit.result.iterations,
             to_string(fit.result.stop_reason));
  if (outcome.has_classes) {
    fmt::print("adjusted Rand index against the classes  {:.3f}\n", outcome.adjusted_rand_index);
  }
  fmt::print(
      "time        statistics {:.3g} ms, seeding {:.3g} ms, opening {:.3g} ms, fit {:.3g} ms\n",
      dataset.statistics_ms(), fit.seeding_ms, outcome.open_ms, fit.fit_ms);
  print_clusters(outcome);
}

void write_files(const FitCommandOptions& options, const Outcome& outcome) {
  namespace fs = std::filesystem;
  std::string labels = options.labels, centroids = options.centroids, model = options.model;
  if (!options.output.empty()) {
    if (labels.empty()) labels = (fs::path(options.output) / "labels.csv").string();
    if (centroids.empty()) centroids = (fs::path(options.output) / "centroids.csv").string();
    if (model.empty()) model = (fs::path(options.output) / "model.json").string();
  }
  const Fit& fit = outcome.fit;
  const Dataset& dataset = outcome.dataset;
  if (!model.empty()) {
    write_model(model, {.clusters = fit.clusters,
                        .features = fit.features,
                        .feature_names = dataset.feature_names,
                        .centroids = fit.centroids,
                        .inertia = fit.result.inertia,
                        .samples = dataset.samples(),
                        .backend = outcome.chosen.backend->name(),
                        .seeding_method = std::string(to_string(outcome.options.seeding.method)),
                        .seed = outcome.options.seeding.seed});
  }
  if (!centroids.empty())
    write_matrix(centroids, fit.centroids, fit.features, dataset.feature_names);
  if (!labels.empty()) write_labels(labels, fit.labels);
  for (const std::string& file : {labels, centroids, model}) {
    if (!file.empty()) fmt::print(stderr, "wrote {}\n", file);
  }
}

int run_fit(const Context& context, FitCommandOptions options) {
  options.fit.empty_clusters = parse_empty_clusters(options.empty_clusters);
  if (options.iterations != 0) {
    options.fit.fixed_iterations = true;
    options.fit.max_iterations = options.iterations;
  }
  parse_seeding_option(options.seeding, options.fit.seeding);
  if (!options.output.empty()) make_folder(options.output);  // now, so that no work is done in vain
  const Dataset dataset = options.data.read();
  check_options(options.fit, dataset);
  Registry registry = context.registry();
  const ChosenBackend chosen = options.backend.choose(registry);
  if (options.backend.name.empty() && !options.json) {
    fmt::print(stderr, "backend '{}' chosen; --backend takes another\n", chosen.backend->name());
  }

  OpenSession session(chosen.backend, dataset, chosen.parameters);
  options.fit.observe = kObserveIterations;
  const Fit fit = [&] {
    FitProgress progress(options.fit, dataset.samples());
    return lloyd::fit(session, options.fit, &progress);
  }();
  if (fit.cancelled && fit.labels.empty()) {
    fmt::print(stderr, "lloyd: interrupted before the first fit had ended; nothing was written\n");
    return kInterrupted;
  }
  Outcome outcome{dataset, chosen, options.fit, fit, session.open_ms(), !dataset.classes.empty(),
                  0};
  if (outcome.has_classes) {
    outcome.adjusted_rand_index = adjusted_rand_index(number_classes(dataset.classes), fit.labels);
  }
  if (options.json) {
    print_json(to_json(outcome));
  } else {
    print_text(outcome);
  }
  write_files(options, outcome);
  return fit.cancelled ? kInterrupted : kDone;
}

}  // namespace

void add_fit_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("fit", "Cluster the samples of a file");
  auto options = std::make_shared<FitCommandOptions>();
  options->data.add_to(*command);
  options->backend.add_to(*command);
  command->add_option("-k,--clusters", options->fit.clusters, "Number of clusters")
      ->capture_default_str();
  command
      ->add_option("--init", options->seeding,
                   "Seeding: k-means++, random, first, or a file of k centroids")
      ->capture_default_str();
  command->add_option("--seed", options->fit.seeding.seed, "Seed of the seeding")
      ->capture_default_str();
  command->add_option("--restarts", options->fit.restarts, "Fits, of which the best is kept")
      ->capture_default_str();
  auto* most =
      command->add_option("--max-iterations", options->fit.max_iterations, "Iterations at the most")
          ->capture_default_str();
  auto* tolerance = command
                        ->add_option("--tolerance", options->fit.tolerance,
                                     "Stop when the squared shift of the centroids is at most this "
                                     "times the mean variance of the features; 0: never")
                        ->capture_default_str();
  command->add_option("--iterations", options->iterations, "Run exactly this many iterations")
      ->check(CLI::PositiveNumber)
      ->excludes(most)
      ->excludes(tolerance);
  command
      ->add_option("--empty-clusters", options->empty_clusters,
                   "What to do with an empty cluster: relocate, keep or error")
      ->capture_default_str();
  command->add_option("--labels", options->labels, "Write the labels to this .csv or .npy file");
  command->add_option("--centroids", options->centroids,
                      "Write the centroids to this .csv or .npy file");
  command->add_option("--model", options->model,
                      "Write a model for 'lloyd predict' to this .json file");
  command->add_option("-o,--output", options->output,
                      "Write labels.csv, centroids.csv and model.json into this folder");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([&context, options] {
    context.action = [&context, options] { return run_fit(context, *options); };
  });
}

}  // namespace lloyd::apps
