#include "fit/model.hpp"

#include <utility>

#include <lloyd/data/files.hpp>

#include "options/bounded_data.hpp"
#include "options/centroids_file.hpp"

namespace lloyd::apps {

Model read_model(const std::filesystem::path& file, std::optional<std::uint64_t> memory) {
  if (!find_format(file)) {
    return Model::load(file,
                       [&](double bytes) { check_reading_memory(file.string(), bytes, memory); });
  }
  CentroidsFile rows = read_centroids(file, {memory, std::nullopt});
  Model model;
  model.clusters = rows.clusters;
  model.features = rows.features;
  model.feature_names = std::move(rows.feature_names);
  model.centroids = std::move(rows.centroids);
  return model;
}

}  // namespace lloyd::apps
