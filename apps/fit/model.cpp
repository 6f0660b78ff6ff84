#include "fit/model.hpp"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>

#include "options/bounded_data.hpp"
#include "options/centroids_file.hpp"
#include "text/file_kind.hpp"

namespace lloyd::apps {

Model read_model(const std::filesystem::path& file, std::optional<std::uint64_t> memory) {
  if (!find_format(file)) {
    const std::string kind = file_kind(file);
    std::error_code error;
    if (!kind.empty() && !is_model_file(file) && std::filesystem::is_regular_file(file, error)) {
      throw InputError(
          fmt::format("MODEL is {}, {}; a model is the .json file that 'lloyd fit "
                      "--model FILE.json' writes, or a data file of centroids",
                      file.string(), kind));
    }
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

std::string scaling_warning(const std::filesystem::path& file, const Model& model) {
  const std::filesystem::path saved = file.parent_path() / "model.json";
  std::error_code error;
  if (!find_format(file) || !std::filesystem::is_regular_file(saved, error)) return {};
  try {
    const Model fitted = Model::load(
        saved, [&](double bytes) { check_reading_memory(saved.string(), bytes, std::nullopt); });
    if (!fitted.standardization || fitted.clusters != model.clusters ||
        fitted.features != model.features) {
      return {};
    }
  } catch (const InputError&) {
    return {};
  }
  return fmt::format(
      "{} holds only centroids, so the samples are not standardized as in the fit, and labels may "
      "differ from those of the fit; {} has the scaling",
      file.string(), saved.string());
}

}  // namespace lloyd::apps
