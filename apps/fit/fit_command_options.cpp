#include "fit/fit_command_options.hpp"

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/shown.hpp>

#include "options/centroids_file.hpp"
#include "options/seeding_option.hpp"
#include "output/output.hpp"
#include "text/names.hpp"

namespace lloyd::apps {
namespace {

// Returns the feature names of the centroids' file, if any.
std::vector<std::string> set_seeding(const FitCommandOptions& options, Seeding& seeding) {
  if (options.tries_range() && std::filesystem::path(options.seeding).has_extension()) {
    throw InputError(
        fmt::format("--seeding is {}, a file of centroids for one k, but -k is {}; a range needs a "
                    "method, such as k-means++",
                    options.seeding, options.clusters));
  }
  std::vector<std::string> names =
      parse_seeding_option(options.seeding, options.fit.clusters, options.memory.limit, seeding);
  const bool parallel = seeding.method == SeedingMethod::kmeans_parallel;
  if (!parallel && (options.oversampling || options.rounds)) {
    throw InputError(fmt::format("{} is for --seeding k-means||, not {}",
                                 options.oversampling ? "--oversampling" : "--rounds",
                                 to_string(seeding.method)));
  }
  seeding.oversampling = options.oversampling.value_or(seeding.oversampling);
  seeding.rounds = options.rounds.value_or(seeding.rounds);
  check_seeding(seeding);
  return names;
}

}  // namespace

std::vector<std::string> FitCommandOptions::complete() {
  if (output == "-") {
    throw InputError(
        "-o is '-', but it takes a folder for labels, centroids and model.json; --json prints the "
        "result to standard output, and 'lloyd predict MODEL DATA' prints labels");
  }
  const std::vector<std::int64_t> range = parse_cluster_range(clusters);
  fit.clusters = range.back();
  if (!criteria.empty() && range.size() == 1) {
    throw InputError(
        fmt::format("--criteria is for a range of k, such as -k 2..20, but -k is {}", clusters));
  }
  if (!checkpoint.folder.empty() && range.size() > 1) {
    throw InputError(
        fmt::format("--checkpoint is for one number of clusters, but -k is {}", clusters));
  }
  fit.empty_clusters = parse_empty_clusters(empty_clusters);
  if (iterations != 0) {
    fit.fixed_iterations = true;
    fit.max_iterations = iterations;
  }
  fit.observe = kObserveIterations;
  return set_seeding(*this, fit.seeding);
}

void FitCommandOptions::check_centroids(const std::string& name, std::int64_t features) const {
  if (fit.seeding.method != SeedingMethod::file) return;
  const std::int64_t given = std::ssize(fit.seeding.centroids) / fit.clusters;
  if (given == features) return;
  throw InputError(fmt::format("--seeding: {}, but {} has {}",
                               centroids_text(fit.seeding.file, fit.clusters, given), name,
                               format_count(features, "feature")));
}

void FitCommandOptions::check_clusters(const std::string& name, std::int64_t samples) const {
  if (fit.clusters <= samples) return;
  throw InputError(fmt::format("-k is {}; it must be 1 to {}, the number of samples in {}",
                               fit.clusters, samples, name));
}

void FitCommandOptions::complete_outputs() {
  if (!output.empty()) {
    const std::filesystem::path folder = output;
    if (labels.empty()) labels = (folder / ("labels." + format)).string();
    if (centroids.empty()) centroids = (folder / ("centroids." + format)).string();
    if (model.empty()) model = (folder / "model.json").string();
    if (criteria.empty() && tries_range()) criteria = (folder / "criteria.svg").string();
  }
  check_extension(labels, {".csv", ".npy"});
  check_extension(centroids, {".csv", ".npy"});
  check_extension(model, {".json"});
  check_extension(criteria, {".svg", ".csv"});
  check_extension(plot, {".svg"});
  for (std::string* file : {&labels, &centroids, &model, &criteria, &plot}) {
    *file = absolute_path(*file).string();
  }
  checkpoint.complete();
}

std::vector<std::filesystem::path> FitCommandOptions::outputs() const {
  std::vector<std::filesystem::path> files = {labels, centroids, model, criteria, plot};
  if (!checkpoint.folder.empty()) {
    const std::vector<std::filesystem::path> more = checkpoint_files(checkpoint.folder);
    files.insert(files.end(), more.begin(), more.end());
  }
  return files;
}

void FitCommandOptions::try_outputs() const {
  std::vector<std::filesystem::path> inputs = data.sources();
  inputs.emplace_back(fit.seeding.file);
  refuse_overwriting(outputs(), inputs);
  if (!output.empty()) make_folder(output);
  checkpoint.prepare();
  apps::try_outputs(outputs());
}

void FitCommandOptions::note_stale_files() const {
  if (output.empty()) return;
  const std::filesystem::path folder = absolute_path(output);
  std::vector<std::string> stale;
  for (const char* name : {"labels.csv", "labels.npy", "centroids.csv", "centroids.npy",
                           "model.json", "criteria.svg"}) {
    const std::string file = (folder / name).string();
    std::error_code error;
    const bool is_output = file == labels || file == centroids || file == model || file == criteria;
    if (!is_output && std::filesystem::exists(file, error)) stale.emplace_back(name);
  }
  if (stale.empty()) return;
  note("lloyd: {} in {} {} not written by this fit\n", enumerated(stale, "and"), output,
       stale.size() == 1 ? "was" : "were");
}

}  // namespace lloyd::apps
