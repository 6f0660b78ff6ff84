#include <lloyd/data/sample_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/random.hpp>

#include "dataset/check_shape.hpp"

namespace lloyd {
namespace {

// Rows of the data set in the order of the result: those with the `wanted` smallest random keys.
std::vector<std::int64_t> chosen_rows(std::int64_t samples, std::int64_t wanted,
                                      const RowSampling& sampling) {
  const RandomStream random(sampling.seed, 0);
  std::vector<std::pair<std::uint64_t, std::int64_t>> keys;
  keys.reserve(static_cast<std::size_t>(samples));
  for (std::int64_t row = 0; row < samples; ++row) {
    keys.emplace_back(random.bits(static_cast<std::uint64_t>(row)), row);
  }
  std::partial_sort(keys.begin(), keys.begin() + wanted, keys.end());
  std::vector<std::int64_t> rows;
  rows.reserve(static_cast<std::size_t>(wanted));
  for (std::int64_t i = 0; i < wanted; ++i)
    rows.push_back(keys[static_cast<std::size_t>(i)].second);
  if (!sampling.shuffle) std::sort(rows.begin(), rows.end());
  return rows;
}

template <class T>
Matrix copy_chosen(const Matrix& matrix, const std::vector<std::int64_t>& rows) {
  std::vector<T> values;
  values.reserve(rows.size() * static_cast<std::size_t>(matrix.columns));
  for (const std::int64_t row : rows) {
    const T* const first = static_cast<const T*>(matrix.data) + row * matrix.stride;
    values.insert(values.end(), first, first + matrix.columns);
  }
  return Matrix::from_values(std::move(values), std::ssize(rows), matrix.columns);
}

}  // namespace

Dataset sample_rows(const Dataset& dataset, const RowSampling& sampling) {
  dataset.check_mapped_file();
  const std::int64_t samples = dataset.samples();
  const std::int64_t wanted = sampling.samples.value_or(samples);
  if (!dataset.in_memory()) {
    throw InputError(
        fmt::format("{} is not in memory, which choosing samples requires", dataset.name()));
  }
  if (wanted < 1 || wanted > samples) {
    throw InputError(fmt::format("{} of {} are wanted, which has {}",
                                 format_count(wanted, "sample"), dataset.name(), samples));
  }
  check_classes(dataset);
  const std::vector<std::int64_t> rows = chosen_rows(samples, wanted, sampling);
  Dataset result(dataset.name(), dataset.dtype() == DType::float32
                                     ? copy_chosen<float>(dataset.matrix(), rows)
                                     : copy_chosen<double>(dataset.matrix(), rows));
  result.feature_names = dataset.feature_names;
  result.class_column = dataset.class_column;
  result.class_name = dataset.class_name;
  if (dataset.classes.empty()) return result;
  for (const std::int64_t row : rows) {
    result.classes.push_back(dataset.classes[static_cast<std::size_t>(row)]);
  }
  return result;
}

}  // namespace lloyd
