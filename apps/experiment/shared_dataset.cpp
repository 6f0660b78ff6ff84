#include "experiment/shared_dataset.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/npy.hpp>
#include <lloyd/error.hpp>

#include "experiment/json_fields.hpp"
#include "names.hpp"
#include "shared_memory.hpp"

namespace lloyd::experiment {
namespace {

using apps::Descriptor;
using nlohmann::ordered_json;

// From the first value of the first row to the last of the last one.
std::int64_t bytes_of(const Matrix& matrix) {
  return ((matrix.rows - 1) * matrix.stride + matrix.columns) * size_of(matrix.dtype);
}

// The file that `matrix` was read from, when its values stand there as they are.
struct ValuesFile {
  Descriptor file;
  std::int64_t offset = 0;
  std::shared_ptr<const void> mapped;
};

std::optional<ValuesFile> find_values(const std::filesystem::path& path, const Matrix& matrix) {
  if (path.empty() || find_format(path) != FileFormat::npy) return std::nullopt;
  const std::optional<std::int64_t> offset = npy_values_offset(path);
  ValuesFile values{Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), offset.value_or(0), {}};
  struct stat status {};
  const std::int64_t bytes = values.offset + bytes_of(matrix);
  if (!offset || !values.file || ::fstat(values.file.get(), &status) != 0 ||
      status.st_size < bytes) {
    return std::nullopt;
  }
  values.mapped = apps::map_shared(values.file.get(), bytes);
  // It may be another file by now, which only has the name of the one that was read.
  const void* const begin = static_cast<const char*>(values.mapped.get()) + values.offset;
  const auto size = static_cast<std::size_t>(bytes - values.offset);
  if (std::memcmp(begin, matrix.data, size) != 0) return std::nullopt;
  return values;
}

ordered_json describe(const Dataset& dataset, std::int64_t offset) {
  const Matrix& matrix = dataset.matrix();
  return {{"name", dataset.name()},
          {"rows", matrix.rows},
          {"columns", matrix.columns},
          {"stride", matrix.stride},
          {"dtype", apps::to_string(matrix.dtype)},
          {"offset", offset},
          {"fingerprint", dataset.fingerprint()}};
}

void set_values(Matrix& matrix, std::shared_ptr<const void> mapped, std::int64_t offset) {
  matrix.data = static_cast<const char*>(mapped.get()) + offset;
  matrix.storage = std::move(mapped);
}

}  // namespace

SharedDataset share_dataset(std::shared_ptr<const Dataset> dataset,
                            const std::filesystem::path& file) {
  Matrix matrix = dataset->matrix();
  std::vector<FeatureStatistics> statistics = dataset->statistics();
  SharedDataset shared;
  shared.statistics = apps::make_shared_memory(
      statistics.data(), static_cast<std::int64_t>(statistics.size() * sizeof(FeatureStatistics)));
  std::int64_t offset = 0;
  if (std::optional<ValuesFile> found = find_values(file, matrix)) {
    offset = found->offset;
    shared.values = std::move(found->file);
    set_values(matrix, std::move(found->mapped), offset);
  } else {
    shared.values = apps::make_shared_memory(matrix.data, bytes_of(matrix));
    set_values(matrix, apps::map_shared(shared.values.get(), bytes_of(matrix)), 0);
  }
  shared.description = describe(*dataset, offset);
  const auto moved = std::make_shared<Dataset>(dataset->name(), std::move(matrix),
                                               std::move(statistics), dataset->fingerprint());
  moved->feature_names = dataset->feature_names;
  shared.dataset = moved;
  return shared;
}

std::unique_ptr<const Dataset> receive_dataset(const ordered_json& description,
                                               const std::vector<Descriptor>& descriptors) {
  if (descriptors.size() != 2) {
    throw Error(fmt::format("a data set came with {} descriptors, not 2", descriptors.size()));
  }
  const JsonFields json(description);
  Matrix matrix;
  matrix.rows = json.integer("rows", 1);
  matrix.columns = json.integer("columns", 1);
  matrix.stride = json.integer("stride", matrix.columns);
  matrix.dtype = apps::parse_dtype(json.text("dtype"));
  const std::int64_t offset = json.integer("offset", 0);
  set_values(matrix, apps::map_shared(descriptors[0].get(), offset + bytes_of(matrix)), offset);

  std::vector<FeatureStatistics> statistics(static_cast<std::size_t>(matrix.columns));
  const std::size_t bytes = statistics.size() * sizeof(FeatureStatistics);
  const auto mapped = apps::map_shared(descriptors[1].get(), static_cast<std::int64_t>(bytes));
  std::memcpy(statistics.data(), mapped.get(), bytes);
  return std::make_unique<const Dataset>(json.text("name"), std::move(matrix),
                                         std::move(statistics), json.seed("fingerprint"));
}

}  // namespace lloyd::experiment
