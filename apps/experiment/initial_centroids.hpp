// InitialCentroids: the starts of an experiment's fits, made once for all backends.
#pragma once

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
  /// Makes them, or returns those made before for the same data set and seeding; those of another
  /// data set are forgotten, and a reference to them ends. `dataset_key` names the data set. Throws
  /// what seed_centroids() does.
  const Starts& get(const Dataset& dataset, const std::string& dataset_key,
                    const FitOptions& options, const std::function<bool()>& stop);

 private:
  std::string dataset_key_;
  std::map<std::string, Starts> starts_;
};

}  // namespace lloyd::experiment
