// InitialCentroids: the starts of an experiment's fits, made once for all backends.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <lloyd/fit.hpp>

namespace lloyd::experiment {

/// Of all restarts of a setting.
struct Starts {
  std::vector<std::vector<double>> centroids;  ///< k x d each
  double ms = 0;                               ///< wall time of making them
};

class InitialCentroids {
 public:
  /// Memory is planned for the centroids of one setting, so that those of many seeds must not add
  /// up: `max_kept_bytes` of earlier ones are kept, by default less than the program takes itself.
  explicit InitialCentroids(std::int64_t max_kept_bytes = std::int64_t{16} << 20)
      : max_kept_bytes_(max_kept_bytes) {}

  /// Makes them, or returns those made before for the same data set and seeding. Where they must be
  /// made, those of another data set are forgotten before, and all where they take more than may be
  /// kept; a reference to them ends. `dataset_key` names the data set. Throws what seed_centroids()
  /// does.
  const Starts& get(const Dataset& dataset, const std::string& dataset_key,
                    const FitOptions& options, const std::function<bool()>& stop);

 private:
  std::int64_t max_kept_bytes_;
  std::string dataset_key_;
  std::map<std::string, Starts> starts_;
};

}  // namespace lloyd::experiment
