// InitialCentroids: the initial centroids of an experiment's fits, computed once for all backends.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/fit.hpp>

namespace lloyd::experiment {

/// The initial centroids of all restarts of a setting.
struct Starts {
  std::vector<std::vector<double>> centroids;  ///< k x d each
  double ms = 0;                               ///< wall time of the seeding
  /// Name of the backend whose kernels computed the distances; empty: Lloyd's own code did.
  std::string backend = {};
};

/// Number of multiplications in the seeding of all restarts, approximately.
double seeding_work(const FitOptions& options, std::int64_t samples, std::int64_t features);

class InitialCentroids {
 public:
  /// `max_kept_bytes` limits the cached centroids of earlier seedings, since the memory estimate of
  /// a plan covers those of one setting only. The default is less than the memory of the program
  /// itself.
  explicit InitialCentroids(std::int64_t max_kept_bytes = std::int64_t{16} << 20)
      : max_kept_bytes_(max_kept_bytes) {}

  /// Returns the initial centroids, computed or cached, for this data set and seeding. Before a new
  /// seeding the cache drops those of other data sets, and all of them if they exceed the limit;
  /// this invalidates earlier references. `dataset_key` identifies the data set. `by_backend`
  /// makes a new seeding; if it is empty or returns none, Lloyd's own code does, and `progress`
  /// receives the chosen centroids of the current restart. Throws as seed_centroids() does, and
  /// what `by_backend` throws.
  const Starts& get(const Dataset& dataset, const std::string& dataset_key,
                    const FitOptions& options, const std::function<bool()>& stop,
                    const std::function<std::optional<Starts>()>& by_backend = {},
                    const ProgressFunction& progress = {});

 private:
  std::int64_t max_kept_bytes_;
  std::string dataset_key_;
  std::map<std::string, Starts> starts_;
};

}  // namespace lloyd::experiment
