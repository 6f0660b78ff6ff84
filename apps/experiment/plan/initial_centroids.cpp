#include "experiment/plan/initial_centroids.hpp"

#include <chrono>
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

}  // namespace

const Starts& InitialCentroids::get(const Dataset& dataset, const std::string& dataset_key,
                                    const FitOptions& options, const std::function<bool()>& stop) {
  using Clock = std::chrono::steady_clock;
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
  Starts starts;
  for (std::int64_t restart = 0; restart < options.restarts; ++restart) {
    if (stop()) throw Cancelled();
    const Clock::time_point begin = Clock::now();
    starts.centroids.push_back(
        seed_centroids(dataset, options.clusters, options.seeding, restart, {.stop = stop}));
    starts.ms += std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  }
  return starts_.emplace(key, std::move(starts)).first->second;
}

}  // namespace lloyd::experiment
