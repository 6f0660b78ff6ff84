#include <lloyd/dataset.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/plugin/float_environment.hpp>

#include "squared_range.hpp"

namespace lloyd {
namespace {

template <class T>
Matrix own_values(std::vector<T> values, std::int64_t rows, std::int64_t columns, DType dtype) {
  auto storage = std::make_shared<std::vector<T>>(std::move(values));
  Matrix matrix;
  matrix.data = storage->data();
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.stride = columns;
  matrix.dtype = dtype;
  matrix.storage = std::move(storage);
  return matrix;
}

void check_shape(const std::string& name, const Matrix& matrix) {
  if (matrix.rows < 1 || matrix.columns < 1) {
    throw InputError(
        fmt::format("{}: the data set has {} rows and {} columns; at least 1 of each is needed",
                    name, matrix.rows, matrix.columns));
  }
  if (matrix.stride < matrix.columns) {
    throw InputError(fmt::format("{}: the stride {} is below the number of columns {}", name,
                                 matrix.stride, matrix.columns));
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(matrix.rows, matrix.stride, &bytes) ||
      __builtin_mul_overflow(bytes, size_of(matrix.dtype), &bytes)) {
    throw InputError(fmt::format("{}: {} rows of {} values overflow 64-bit sizes", name,
                                 matrix.rows, matrix.stride));
  }
  if (matrix.data == nullptr) throw InputError(fmt::format("{}: the data pointer is null", name));
}

// Exponent of the lowest set bit of a value that is finite and not zero.
int lowest_bit_exponent(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<int>((bits >> 52) & 0x7ff);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  if (exponent > 0) mantissa |= std::uint64_t{1} << 52;
  return (exponent > 0 ? exponent : 1) - 1075 + std::countr_zero(mantissa);
}

// Moments of one feature over a block of rows, about the block's first value.
struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;  // sum of squared deviations from the mean

  // Source: T. F. Chan, G. H. Golub and R. J. LeVeque, 1979.
  void merge(const Moments& other) {
    const double total = count + other.count;
    const double delta = other.mean - mean;
    squares += other.squares + delta * delta * (count * other.count / total);
    mean += delta * (other.count / total);
    count = total;
  }
};

template <class T>
class StatisticsPass {
 public:
  StatisticsPass(const std::string& name, const Matrix& matrix) : name_(name), matrix_(matrix) {}

  std::vector<FeatureStatistics> run() {
    constexpr std::int64_t kBlockRows = 4096;  // fixed: the result must not depend on the machine
    const auto d = static_cast<std::size_t>(matrix_.columns);
    minimum_.assign(d, std::numeric_limits<double>::infinity());
    maximum_.assign(d, -std::numeric_limits<double>::infinity());
    lowest_bit_.assign(d, std::numeric_limits<int>::max());
    moments_.assign(d, {});
    for (std::int64_t begin = 0; begin < matrix_.rows; begin += kBlockRows) {
      add_block(begin, std::min(begin + kBlockRows, matrix_.rows));
    }
    std::vector<FeatureStatistics> result(d);
    for (std::size_t j = 0; j < d; ++j) {
      result[j].minimum = minimum_[j];
      result[j].maximum = maximum_[j];
      result[j].mean = moments_[j].mean;
      result[j].variance = moments_[j].squares / moments_[j].count;
      const bool all_zero = lowest_bit_[j] == std::numeric_limits<int>::max();
      result[j].quantum_exponent = all_zero ? 0 : lowest_bit_[j];
    }
    return result;
  }

 private:
  const T* row(std::int64_t i) const {
    return static_cast<const T*>(matrix_.data) + i * matrix_.stride;
  }

  void add_block(std::int64_t begin, std::int64_t end) {
    const auto d = static_cast<std::size_t>(matrix_.columns);
    sums_.assign(d, 0);
    squares_.assign(d, 0);
    const T* origin = row(begin);
    for (std::int64_t i = begin; i < end; ++i) {
      const T* x = row(i);
      for (std::size_t j = 0; j < d; ++j) {
        const auto value = static_cast<double>(x[j]);
        if (!std::isfinite(value)) fail(i, j, value);
        minimum_[j] = std::min(minimum_[j], value);
        maximum_[j] = std::max(maximum_[j], value);
        if (value != 0) lowest_bit_[j] = std::min(lowest_bit_[j], lowest_bit_exponent(value));
        const double deviation = value - static_cast<double>(origin[j]);
        sums_[j] += deviation;
        squares_[j] += deviation * deviation;
      }
    }
    const auto count = static_cast<double>(end - begin);
    for (std::size_t j = 0; j < d; ++j) {
      const double mean = sums_[j] / count;
      moments_[j].merge({count, static_cast<double>(origin[j]) + mean,
                         std::max(0.0, squares_[j] - sums_[j] * mean)});
    }
  }

  [[noreturn]] void fail(std::int64_t i, std::size_t j, double value) const {
    throw InputError(
        fmt::format("{}: row {}, column {} (counted from 0) is {}; all values must be finite",
                    name_, i, j, value));
  }

  const std::string& name_;
  const Matrix& matrix_;
  std::vector<double> minimum_, maximum_, sums_, squares_;
  std::vector<int> lowest_bit_;
  std::vector<Moments> moments_;
};

// The largest squared distance that two points of the data's bounding box can have.
void check_squared_range(const std::string& name, const std::vector<FeatureStatistics>& features) {
  double sum = 0;
  for (const FeatureStatistics& feature : features) {
    const double range = feature.maximum - feature.minimum;
    sum += range * range;
    const double largest = std::max(std::abs(feature.minimum), std::abs(feature.maximum));
    if (!(largest < kLargestSquare)) {
      throw InputError(fmt::format(
          "{}: values reach {:.3g}, too near the end of float64 (limit 1e290); scale the data down",
          name, largest));
    }
  }
  if (!(sum < kLargestSquare)) {
    throw InputError(
        fmt::format("{}: squared distances reach {:.3g}, too near the end of float64 (limit "
                    "1e290); scale the data down",
                    name, sum));
  }
}

std::uint64_t mix(std::uint64_t value) {
  // The finalizer of SplitMix64 (G. L. Steele et al., 2014).
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

std::uint64_t hash_values(const Matrix& matrix) {
  const auto row_bytes = static_cast<std::size_t>(matrix.columns * size_of(matrix.dtype));
  const auto step = static_cast<std::size_t>(matrix.stride * size_of(matrix.dtype));
  std::uint64_t hash = mix(static_cast<std::uint64_t>(matrix.rows));
  hash = mix(hash ^ static_cast<std::uint64_t>(matrix.columns));
  hash = mix(hash ^ static_cast<std::uint64_t>(matrix.dtype));
  const char* row = static_cast<const char*>(matrix.data);
  for (std::int64_t i = 0; i < matrix.rows; ++i, row += step) {
    for (std::size_t at = 0; at < row_bytes; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, row + at, std::min<std::size_t>(8, row_bytes - at));
      hash = (std::rotl(hash, 5) ^ word) * 0x9e3779b97f4a7c15u;
    }
    hash ^= hash >> 29;
  }
  return mix(hash);
}

}  // namespace

Matrix Matrix::own(std::vector<float> values, std::int64_t rows, std::int64_t columns) {
  return own_values(std::move(values), rows, columns, DType::float32);
}

Matrix Matrix::own(std::vector<double> values, std::int64_t rows, std::int64_t columns) {
  return own_values(std::move(values), rows, columns, DType::float64);
}

Dataset::Dataset(std::string name, Matrix matrix)
    : name_(std::move(name)), matrix_(std::move(matrix)) {
  const auto start = std::chrono::steady_clock::now();
  const FloatEnvironment environment;
  check_shape(name_, matrix_);
  statistics_ = matrix_.dtype == DType::float32 ? StatisticsPass<float>(name_, matrix_).run()
                                                : StatisticsPass<double>(name_, matrix_).run();
  check_squared_range(name_, statistics_);
  for (const FeatureStatistics& feature : statistics_) mean_variance_ += feature.variance;
  mean_variance_ /= static_cast<double>(matrix_.columns);
  fingerprint_ = hash_values(matrix_);
  statistics_ms_ =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

DatasetView Dataset::view() const {
  DatasetView view;
  view.required_features = kFeatureHostMemory |
                           (dtype() == DType::float32 ? kFeatureFloat32 : kFeatureFloat64) |
                           (matrix_.stride != matrix_.columns ? kFeatureStrided : 0u);
  view.data = matrix_.data;
  view.samples = matrix_.rows;
  view.features = matrix_.columns;
  view.stride = matrix_.stride;
  view.dtype = matrix_.dtype;
  view.statistics = statistics_.data();
  view.total_samples = matrix_.rows;
  return view;
}

}  // namespace lloyd
