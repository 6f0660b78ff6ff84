// FitCommandOptions: the options of `lloyd fit`, and their checks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/fit.hpp>

#include "fit/checkpoint_option.hpp"
#include "options/backend_options.hpp"
#include "options/bounded_data.hpp"
#include "options/cluster_range.hpp"
#include "options/data_options.hpp"

namespace lloyd::apps {

/// Filled by the command line's parser.
struct FitCommandOptions {
  DataOptions data;
  BackendOptions backend;
  MemoryOption memory;
  CheckpointOption checkpoint;
  FitOptions fit;
  std::string seeding = "k-means++";
  std::optional<double> oversampling;
  std::optional<std::int64_t> rounds;
  std::string empty_clusters = "relocate";
  std::int64_t iterations = 0;  // 0: until convergence
  std::string clusters = "8";   // see parse_cluster_range()
  std::string labels, centroids, model, criteria, plot, output;
  std::string format = "csv";
  std::int64_t comm_timeout = 60;  // seconds; 0: no limit
  bool standardize = false;
  bool json = false;

  bool tries_range() const { return parse_cluster_range(clusters).size() > 1; }
  bool needs_labels() const { return !labels.empty() || !plot.empty(); }
  /// Sets `fit` from the option texts. Returns the feature names of the file of initial centroids,
  /// if any. Throws InputError.
  std::vector<std::string> complete();
  /// Throws InputError if initial centroids from a file have other features than the data of this
  /// name.
  void check_centroids(const std::string& name, std::int64_t features) const;
  /// Throws InputError if the data of this name has fewer samples than clusters are to be found.
  void check_clusters(const std::string& name, std::int64_t samples) const;
  /// Derives unset output paths from `output`, makes all absolute and checks their extensions.
  /// Throws InputError.
  void complete_outputs();
  /// Checks that the outputs can be written, and creates their folder. Throws InputError.
  void try_outputs() const;
  /// Notes files in the output folder that have the names of outputs but are not those of this fit.
  void note_stale_files() const;
  /// The paths of the outputs.
  std::vector<std::filesystem::path> outputs() const;
};

}  // namespace lloyd::apps
