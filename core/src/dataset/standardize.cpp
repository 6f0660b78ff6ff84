#include <lloyd/internal/format_count.hpp>
#include <lloyd/standardize.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/backing_file.hpp>
#include <lloyd/error.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "dataset/check_shape.hpp"

namespace lloyd {
namespace {

template <class T>
Matrix standardized_values(const Matrix& matrix, const Standardization& map) {
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(matrix.rows * matrix.columns));
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    const T* const row = static_cast<const T*>(matrix.data) + i * matrix.stride;
    for (std::size_t j = 0; j < map.mean.size(); ++j) {
      values.push_back(
          static_cast<T>((static_cast<double>(row[j]) - map.mean[j]) / map.deviation[j]));
    }
  }
  return Matrix::from_values(std::move(values), matrix.rows, matrix.columns);
}

}  // namespace

void Standardization::check() const {
  if (mean.empty() || deviation.size() != mean.size()) {
    throw InputError(fmt::format(
        "a standardization has {} and {}; it needs one of each for every feature",
        format_count(mean.size(), "mean"), format_count(deviation.size(), "deviation")));
  }
  for (std::size_t j = 0; j < mean.size(); ++j) {
    if (std::isfinite(mean[j]) && std::isfinite(deviation[j]) && deviation[j] > 0) continue;
    throw InputError(fmt::format(
        "a standardization has the mean {} and the deviation {} for feature {}; the mean must be "
        "finite, and the deviation finite and above 0",
        mean[j], deviation[j], j));
  }
}

void Standardization::check_values(std::size_t values) const {
  check();
  if (values % mean.size() == 0) return;
  throw InputError(fmt::format("a standardization of {} cannot map {}",
                               format_count(mean.size(), "feature"),
                               format_count(values, "value")));
}

Standardization Standardization::of(const std::vector<FeatureStatistics>& statistics) {
  const FloatEnvironment environment;
  Standardization map;
  for (const FeatureStatistics& feature : statistics) {
    const double deviation = std::sqrt(feature.variance);
    map.mean.push_back(feature.mean);
    map.deviation.push_back(deviation > 0 ? deviation : 1);
  }
  return map;
}

std::vector<double> Standardization::apply(std::vector<double> values) const {
  const FloatEnvironment environment;
  check_values(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t j = i % mean.size();
    values[i] = (values[i] - mean[j]) / deviation[j];
  }
  return values;
}

std::vector<double> Standardization::undo(std::vector<double> values) const {
  const FloatEnvironment environment;
  check_values(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t j = i % mean.size();
    values[i] = values[i] * deviation[j] + mean[j];
  }
  return values;
}

Matrix standardize(const Matrix& matrix, const Standardization& map) {
  check_shape("the data", matrix);
  check_values_given("the data", matrix);
  if (std::ssize(map.mean) != matrix.columns || map.deviation.size() != map.mean.size()) {
    throw InputError(fmt::format("the samples have {}, but {} are standardized",
                                 format_count(matrix.columns, "feature"), map.mean.size()));
  }
  map.check();
  if (matrix.file != nullptr) matrix.file->check_unchanged();
  const FloatEnvironment environment;
  return matrix.dtype == DType::float32 ? standardized_values<float>(matrix, map)
                                        : standardized_values<double>(matrix, map);
}

Dataset standardize(const Dataset& dataset) {
  dataset.check_mapped_file();
  require_host_memory(dataset, "standardization");
  if (!dataset.in_memory()) {
    throw InputError(
        fmt::format("{} is not in memory, which standardizing requires", dataset.name()));
  }
  Dataset result(dataset.name(),
                 standardize(dataset.matrix(), Standardization::of(dataset.statistics())));
  result.classes = dataset.classes;
  result.class_column = dataset.class_column;
  result.class_name = dataset.class_name;
  result.feature_names = dataset.feature_names;
  result.dropped_rows = dataset.dropped_rows;
  result.missing_counts = dataset.missing_counts;
  result.text_features = dataset.text_features;
  result.unused_missing = dataset.unused_missing;
  result.dropped_row_numbers = dataset.dropped_row_numbers;
  return result;
}

}  // namespace lloyd
