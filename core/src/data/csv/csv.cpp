#include <lloyd/data/csv.hpp>

#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include <lloyd/plugin/sdk/float_environment.hpp>

#include "data/csv/csv_rows.hpp"

namespace lloyd {
namespace {

template <class T>
Dataset read_table(const std::filesystem::path& file, CsvRows& rows) {
  const auto values = std::make_shared<PageBuffer<T>>();
  std::vector<std::string> classes;
  Matrix matrix;
  matrix.rows = rows.read(std::numeric_limits<std::int64_t>::max(), *values, classes);
  matrix.columns = matrix.stride = rows.columns().features;
  matrix.dtype = std::is_same_v<T, float> ? DType::float32 : DType::float64;
  matrix.data = values->data();
  matrix.storage = values;
  Dataset dataset(file.filename().string(), std::move(matrix));
  dataset.classes = std::move(classes);
  dataset.class_column = rows.columns().label;
  dataset.class_name = rows.columns().label_name;
  dataset.feature_names = rows.columns().feature_names;
  dataset.dropped_rows = rows.dropped();
  dataset.rounding = rows.rounding();
  dataset.text_features = rows.text_features();
  dataset.unused_missing = rows.unused_missing();
  dataset.missing_counts = rows.missing_counts();
  dataset.dropped_row_numbers = rows.dropped_rows();
  return dataset;
}

}  // namespace

Dataset read_csv(const std::filesystem::path& file, const CsvOptions& options) {
  const FloatEnvironment environment;
  CsvRows rows(file, options);
  return options.dtype == DType::float32 ? read_table<float>(file, rows)
                                         : read_table<double>(file, rows);
}

}  // namespace lloyd
