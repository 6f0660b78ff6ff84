// Centroids from a data file.
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

/// What reading centroids is held to.
struct CentroidsLimits {
  std::optional<std::uint64_t> memory;   ///< bytes of the whole process; not set: the machine's
  std::optional<std::int64_t> clusters;  ///< k that is needed; not set: any
};

/// Reads a file of any format that data has; each row is a centroid. Text is read as float64.
/// Throws InputError, where the file is not of text before its values are read.
CentroidsFile read_centroids(const std::filesystem::path& file, const CentroidsLimits& limits);

}  // namespace lloyd::apps
