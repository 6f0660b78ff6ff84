#include "centroids_file.hpp"

#include <lloyd/data/files.hpp>

#include "bounded_data.hpp"

namespace lloyd::apps {

CentroidsFile read_centroids(const std::filesystem::path& file) {
  FileOptions options;
  options.csv.dtype = DType::float64;
  options.csv.memory_limit = text_memory();
  const Dataset rows = read_dataset(file, options);
  CentroidsFile result{rows.samples(), rows.features(), rows.feature_names, {}};
  result.centroids.reserve(static_cast<std::size_t>(rows.samples() * rows.features()));
  for (std::int64_t c = 0; c < rows.samples(); ++c) {
    for (std::int64_t j = 0; j < rows.features(); ++j) {
      result.centroids.push_back(rows.matrix().at(c, j));
    }
  }
  return result;
}

}  // namespace lloyd::apps
