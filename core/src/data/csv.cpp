#include <lloyd/data/csv.hpp>

#include <limits>
#include <utility>

#include "data/csv_rows.hpp"

namespace lloyd {
namespace {

template <class T>
Dataset read_table(const std::filesystem::path& file, CsvRows& rows) {
  std::vector<T> values;
  std::vector<std::string> classes;
  const std::int64_t features = rows.columns().features;
  std::int64_t count = rows.read(1, values, classes);
  if (const auto estimate = rows.estimated_rows()) {
    // A little more, so that rows that are shorter than the first do not move all.
    values.reserve(static_cast<std::size_t>((*estimate + *estimate / 16) * features));
  }
  count += rows.read(std::numeric_limits<std::int64_t>::max(), values, classes);
  Dataset dataset(file.filename().string(), Matrix::own(std::move(values), count, features));
  dataset.classes = std::move(classes);
  dataset.feature_names = rows.columns().feature_names;
  return dataset;
}

}  // namespace

Dataset read_csv(const std::filesystem::path& file, const CsvOptions& options) {
  CsvRows rows(file, options);
  return options.dtype == DType::float32 ? read_table<float>(file, rows)
                                         : read_table<double>(file, rows);
}

}  // namespace lloyd
