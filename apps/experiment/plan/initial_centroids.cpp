#include "experiment/plan/initial_centroids.hpp"

#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::experiment {
namespace {

std::int64_t bytes_of(const Starts& starts) {
  std::int64_t bytes = 0;
  for (const std::vector<double>& start : starts.centroids) {
    bytes += static_cast<std::int64_t>(start.size() * sizeof(double));
  }
  return bytes;
}

Starts seed_by_core(const Dataset& dataset, const FitOptions& options,
                    const std::function<bool()>& stop, const ProgressFunction& progress) {
  using Clock = std::chrono::steady_clock;
  Starts starts;
  for (std::int64_t restart = 0; restart < options.restarts; ++restart) {
    if (stop()) throw Cancelled();
    const Clock::time_point begin = Clock::now();
    starts.centroids.push_back(seed_centroids(dataset, options.clusters, options.seeding, restart,
                                              {.stop = stop, .progress = progress}));
    starts.ms += std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  }
  return starts;
}

}  // namespace

double seeding_work(const FitOptions& options, std::int64_t samples, std::int64_t features) {
  const auto k = static_cast<double>(options.clusters);
  double passes = 0;  // over all samples, each for one centroid
  if (options.seeding.method == SeedingMethod::kmeans_plus_plus) {
    passes = k * (3 + std::floor(std::log(k)));  // the candidates and the chosen one
  } else if (options.seeding.method == SeedingMethod::kmeans_parallel) {
    passes = options.seeding.oversampling * k * static_cast<double>(options.seeding.rounds);
  }
  return passes * static_cast<double>(samples) * static_cast<double>(features) *
         static_cast<double>(options.restarts);
}

const Starts& InitialCentroids::get(const Dataset& dataset, const std::string& dataset_key,
                                    const FitOptions& options, const std::function<bool()>& stop,
                                    const std::function<std::optional<Starts>()>& by_backend,
                                    const ProgressFunction& progress) {
  if (dataset_key != dataset_key_) starts_.clear();
  dataset_key_ = dataset_key;
  const std::string key =
      fmt::format("{} {} {} {} {} {} {}", options.clusters, options.restarts,
                  to_string(options.seeding.method), options.seeding.seed,
                  options.seeding.oversampling, options.seeding.rounds, options.seeding.file);
  const auto known = starts_.find(key);
  if (known != starts_.end()) return known->second;
  std::int64_t kept = 0;
  for (const auto& [other, starts] : starts_) kept += bytes_of(starts);
  if (kept > max_kept_bytes_) starts_.clear();
  std::optional<Starts> starts;
  if (by_backend) starts = by_backend();
  if (!starts) starts = seed_by_core(dataset, options, stop, progress);
  return starts_.emplace(key, std::move(*starts)).first->second;
}

}  // namespace lloyd::experiment
