#include <lloyd/data/standardize.hpp>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

namespace lloyd {
namespace {

template <class T>
Matrix standardized_values(const Dataset& dataset) {
  const Matrix& matrix = dataset.matrix();
  const auto columns = static_cast<std::size_t>(matrix.columns);
  std::vector<double> deviations;
  for (const FeatureStatistics& feature : dataset.statistics()) {
    deviations.push_back(std::sqrt(feature.variance));
  }
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(matrix.rows) * columns);
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    const T* const row = static_cast<const T*>(matrix.data) + i * matrix.stride;
    for (std::size_t j = 0; j < columns; ++j) {
      const double shifted = static_cast<double>(row[j]) - dataset.statistics()[j].mean;
      values.push_back(static_cast<T>(deviations[j] > 0 ? shifted / deviations[j] : 0));
    }
  }
  return Matrix::from_values(std::move(values), matrix.rows, matrix.columns);
}

}  // namespace

Dataset standardize(const Dataset& dataset) {
  if (!dataset.in_memory()) {
    throw InputError(
        fmt::format("{} is not in memory, which standardizing requires", dataset.name()));
  }
  const FloatEnvironment environment;
  Dataset result(dataset.name(), dataset.dtype() == DType::float32
                                     ? standardized_values<float>(dataset)
                                     : standardized_values<double>(dataset));
  result.classes = dataset.classes;
  result.feature_names = dataset.feature_names;
  return result;
}

}  // namespace lloyd
