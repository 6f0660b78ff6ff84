#include "options/centroids_file.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/row_source.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/model.hpp>

#include "options/bounded_data.hpp"
#include "supervision/interrupt.hpp"

namespace lloyd::apps {
namespace {

void check_count(const std::filesystem::path& file, std::int64_t rows, std::int64_t columns,
                 const CentroidsLimits& limits) {
  if (!limits.clusters || rows == *limits.clusters) return;
  throw InputError(fmt::format("{}, but {} centroids are needed",
                               centroids_text(file, rows, columns), *limits.clusters));
}

// Memory for the values in the source's data type plus their copy in float64.
double bytes_to_read(const RowSource& rows) {
  return static_cast<double>(rows.samples()) * static_cast<double>(rows.features()) *
         static_cast<double>(size_of(rows.dtype()) + 8);
}

CentroidsFile read_model_centroids(const std::filesystem::path& file,
                                   const CentroidsLimits& limits) {
  Model model = Model::load(
      file, [&](double bytes) { check_reading_memory(file.string(), bytes, limits.memory); });
  check_count(file, model.clusters, model.features, limits);
  std::vector<double> centroids = model.centroids_in_data_units();
  return {model.clusters, model.features, std::move(model.feature_names), std::move(centroids)};
}

CentroidsFile read(const std::filesystem::path& file, const CentroidsLimits& limits) {
  if (is_model_file(file)) return read_model_centroids(file, limits);
  FileOptions options;
  options.csv.dtype = DType::float64;
  options.csv.memory_limit = text_memory(limits.memory);
  options.csv.stop = interrupted;
  if (find_format(file) != FileFormat::csv) {
    const std::unique_ptr<RowSource> source = open_rows(file, options);
    check_count(file, source->samples(), source->features(), limits);
    check_reading_memory(file.string(), bytes_to_read(*source), limits.memory);
  }
  const Dataset rows = read_dataset(file, options);
  check_count(file, rows.samples(), rows.features(), limits);
  CentroidsFile result{rows.samples(), rows.features(), rows.feature_names, {}};
  result.centroids.reserve(static_cast<std::size_t>(rows.samples() * rows.features()));
  for (std::int64_t c = 0; c < rows.samples(); ++c) {
    for (std::int64_t j = 0; j < rows.features(); ++j) {
      result.centroids.push_back(rows.matrix().at(c, j));
    }
  }
  return result;
}

}  // namespace

bool is_model_file(const std::filesystem::path& file) {
  return lower_case_extension(file) == ".json";
}

std::string centroids_text(const std::filesystem::path& file, std::int64_t clusters,
                           std::int64_t features) {
  return is_model_file(file)
             ? fmt::format("{} is a model of {} and {}", file.string(),
                           format_count(clusters, "cluster"), format_count(features, "feature"))
             : fmt::format("{} has {} and {}", file.string(), format_count(clusters, "row"),
                           format_count(features, "column"));
}

CentroidsFile read_centroids(const std::filesystem::path& file, const CentroidsLimits& limits) {
  try {
    return read(file, limits);
  } catch (const InputOptionError& error) {
    throw InputError(
        fmt::format("{}; 'lloyd data convert' has this option, and makes a file that needs none",
                    error.what()));
  }
}

}  // namespace lloyd::apps
