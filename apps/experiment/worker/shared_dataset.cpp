#include "experiment/worker/shared_dataset.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <lloyd/data/backing_file.hpp>
#include <lloyd/error.hpp>
#include <lloyd/evaluation.hpp>
#include <lloyd/internal/descriptors.hpp>
#include <lloyd/internal/json_fields.hpp>
#include <lloyd/internal/status_text.hpp>

#include "ipc/shared_memory.hpp"
#include "text/names.hpp"

namespace lloyd::experiment {
namespace {

using apps::Descriptor;
using nlohmann::ordered_json;

// Bytes from the first value of the first row to the last value of the last row.
std::int64_t bytes_of(const Matrix& matrix) {
  return ((matrix.rows - 1) * matrix.stride + matrix.columns) * size_of(matrix.dtype);
}

ordered_json describe(const Dataset& dataset) {
  const Matrix& matrix = dataset.matrix();
  ordered_json json = {{"name", dataset.name()},
                       {"rows", matrix.rows},
                       {"columns", matrix.columns},
                       {"stride", matrix.stride},
                       {"dtype", apps::to_string(matrix.dtype)},
                       {"classes", !dataset.classes.empty()},
                       {"offset", 0},
                       {"fingerprint", dataset.fingerprint()}};
  if (matrix.file == nullptr) return json;
  const FileStamp& stamp = matrix.file->stamp();
  json["offset"] = static_cast<const char*>(matrix.data) - matrix.file->begin();
  json["file"] = {{"path", printable(matrix.file->path())},
                  {"size", stamp.size},
                  {"seconds", stamp.seconds},
                  {"nanoseconds", stamp.nanoseconds},
                  {"status_seconds", stamp.status_seconds},
                  {"status_nanoseconds", stamp.status_nanoseconds}};
  return json;
}

}  // namespace

std::vector<int> SharedDataset::descriptors() const {
  std::vector<int> all = {values.get(), statistics.get()};
  if (classes) all.push_back(classes.get());
  return all;
}

SharedDataset share_dataset(std::shared_ptr<const Dataset> dataset) {
  std::vector<FeatureStatistics> statistics = dataset->statistics();
  SharedDataset shared;
  if (!dataset->classes.empty()) {
    const std::vector<std::int32_t> classes = encode_classes(dataset->classes);
    shared.classes = apps::make_shared_memory(
        classes.data(), static_cast<std::int64_t>(classes.size() * sizeof(std::int32_t)));
  }
  shared.statistics = apps::make_shared_memory(
      statistics.data(), static_cast<std::int64_t>(statistics.size() * sizeof(FeatureStatistics)));
  shared.description = describe(*dataset);
  if (const auto& file = dataset->matrix().file) {
    shared.values = Descriptor(::fcntl(file->descriptor(), F_DUPFD_CLOEXEC, 0));
    if (!shared.values) {
      throw Error(
          fmt::format("{}: cannot share the file: {}", file->path(), descriptor_error(errno)));
    }
    shared.dataset = std::move(dataset);
    return shared;
  }
  Matrix matrix = dataset->matrix();
  shared.values = apps::make_shared_memory(matrix.data, bytes_of(matrix));
  matrix.storage = apps::map_shared(shared.values.get(), bytes_of(matrix));
  matrix.data = matrix.storage.get();
  const auto moved = std::make_shared<Dataset>(dataset->name(), std::move(matrix),
                                               std::move(statistics), dataset->fingerprint());
  moved->feature_names = dataset->feature_names;
  shared.dataset = moved;
  return shared;
}

std::unique_ptr<const Dataset> receive_dataset(const ordered_json& description,
                                               const std::vector<Descriptor>& descriptors) {
  const JsonFields json(description);
  const std::size_t expected = json.boolean("classes") ? 3 : 2;
  if (descriptors.size() != expected) {
    throw Error(fmt::format("a data set arrived with {} descriptors, not {}", descriptors.size(),
                            expected));
  }
  Matrix matrix;
  matrix.rows = json.integer("rows", 1);
  matrix.columns = json.integer("columns", 1);
  matrix.stride = json.integer("stride", matrix.columns);
  matrix.dtype = apps::parse_dtype(json.text("dtype"));
  const std::int64_t offset = json.integer("offset", 0);
  const std::int64_t mapped_bytes = offset + bytes_of(matrix);
  matrix.storage = apps::map_shared(descriptors[0].get(), mapped_bytes);
  matrix.data = static_cast<const char*>(matrix.storage.get()) + offset;
  if (description.contains("file")) {
    const JsonFields file = json.object("file");
    constexpr std::int64_t kMinSeconds = std::numeric_limits<std::int64_t>::min();
    const FileStamp stamp{file.integer("size", 0), file.integer("seconds", kMinSeconds),
                          file.integer("nanoseconds", 0),
                          file.integer("status_seconds", kMinSeconds),
                          file.integer("status_nanoseconds", 0)};
    matrix.file = std::make_shared<BackingFile>(file.text("path"), descriptors[0].get(), stamp,
                                                matrix.storage.get(), mapped_bytes);
  }

  std::vector<FeatureStatistics> statistics(static_cast<std::size_t>(matrix.columns));
  const std::size_t bytes = statistics.size() * sizeof(FeatureStatistics);
  const auto mapped = apps::map_shared(descriptors[1].get(), static_cast<std::int64_t>(bytes));
  std::memcpy(statistics.data(), mapped.get(), bytes);
  return std::make_unique<const Dataset>(json.text("name"), std::move(matrix),
                                         std::move(statistics), json.seed("fingerprint"));
}

std::vector<std::int32_t> receive_classes(const ordered_json& description,
                                          const std::vector<Descriptor>& descriptors) {
  const JsonFields json(description);
  if (!json.boolean("classes")) return {};
  if (descriptors.size() != 3) throw Error("a data set arrived without its classes");
  std::vector<std::int32_t> classes(static_cast<std::size_t>(json.integer("rows", 1)));
  const std::size_t bytes = classes.size() * sizeof(std::int32_t);
  const auto mapped = apps::map_shared(descriptors[2].get(), static_cast<std::int64_t>(bytes));
  std::memcpy(classes.data(), mapped.get(), bytes);
  return classes;
}

}  // namespace lloyd::experiment
