// Reading centroids from a data file or a model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lloyd::apps {

struct CentroidsFile {
  std::int64_t clusters = 0;
  std::int64_t features = 0;
  std::vector<std::string> feature_names;  ///< d names, or none
  std::vector<double> centroids;           ///< k x d, row-major
};

/// Limits for reading centroids.
struct CentroidsLimits {
  std::optional<std::uint64_t> memory;   ///< bytes of the whole process; not set: its usable memory
  std::optional<std::int64_t> clusters;  ///< required k; not set: any
};

/// True for a model of `lloyd fit`, by the extension.
bool is_model_file(const std::filesystem::path& file);

/// "c.csv has 3 rows and 4 columns" or "m.json is a model of 3 clusters and 4 features".
std::string centroids_text(const std::filesystem::path& file, std::int64_t clusters,
                           std::int64_t features);

/// Reads a file of any data format, of which each row is a centroid, or the model file of a fit
/// (.json), whose centroids are returned in the unit of its samples. Text is read as float64.
/// Throws InputError; except for text and models, the limits are checked before the values are
/// read.
CentroidsFile read_centroids(const std::filesystem::path& file, const CentroidsLimits& limits);

}  // namespace lloyd::apps
