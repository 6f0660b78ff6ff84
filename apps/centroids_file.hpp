// Centroids from a data file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lloyd::apps {

struct CentroidsFile {
  std::int64_t clusters = 0;
  std::int64_t features = 0;
  std::vector<std::string> feature_names;  ///< d names, or none
  std::vector<double> centroids;           ///< k x d, row-major
};

/// Reads a file of any format that data has; each row is a centroid. Text is read as float64.
/// Throws InputError.
CentroidsFile read_centroids(const std::filesystem::path& file);

}  // namespace lloyd::apps
