#include "dataset/statistics_pass.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "dataset/squared_range.hpp"

namespace lloyd {
namespace {

// Moments are computed relative to the first value of each block, and merged. The block size is
// fixed, so that results are the same on every machine.
constexpr std::int64_t kBlockRows = 4096;

// Exponent of the lowest set bit of a value that is finite and not zero.
int lowest_bit_exponent(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<int>((bits >> 52) & 0x7ff);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  if (exponent > 0) mantissa |= std::uint64_t{1} << 52;
  return (exponent > 0 ? exponent : 1) - 1075 + std::countr_zero(mantissa);
}

// Checks the largest squared distance that two points of the data's bounding box can have.
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

}  // namespace

// Source: T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating formulae and a pairwise algorithm
// for computing sample variances", 1979.
void StatisticsPass::Moments::merge(const Moments& other) {
  const double total = count + other.count;
  const double delta = other.mean - mean;
  squares += other.squares + delta * delta * (count * other.count / total);
  mean += delta * (other.count / total);
  count = total;
}

StatisticsPass::StatisticsPass(std::string name, std::int64_t samples, std::int64_t features,
                               DType dtype)
    : name_(std::move(name)),
      features_(static_cast<std::size_t>(features)),
      dtype_(dtype),
      origin_(features_),
      sums_(features_),
      squares_(features_),
      minimum_(features_, std::numeric_limits<double>::infinity()),
      maximum_(features_, -std::numeric_limits<double>::infinity()),
      lowest_bit_(features_, std::numeric_limits<int>::max()),
      moments_(features_),
      fingerprint_(samples, features, dtype) {}

void StatisticsPass::add(const void* data, std::int64_t stride, std::int64_t rows) {
  if (dtype_ == DType::float32) {
    add_rows(static_cast<const float*>(data), stride, rows);
  } else {
    add_rows(static_cast<const double*>(data), stride, rows);
  }
  fingerprint_.add(data, stride, rows);
}

template <class T>
void StatisticsPass::add_rows(const T* data, std::int64_t stride, std::int64_t rows) {
  while (rows > 0) {
    if (block_rows_ == 0) {
      std::copy_n(data, features_, origin_.begin());
      std::fill(sums_.begin(), sums_.end(), 0.0);
      std::fill(squares_.begin(), squares_.end(), 0.0);
    }
    const std::int64_t part = std::min(rows, kBlockRows - block_rows_);
    add_values(data, stride, part);
    block_rows_ += part;
    rows_ += part;
    if (block_rows_ == kBlockRows) end_block();
    data += part * stride;
    rows -= part;
  }
}

template <class T>
void StatisticsPass::add_values(const T* data, std::int64_t stride, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i, data += stride) {
    for (std::size_t j = 0; j < features_; ++j) {
      const auto value = static_cast<double>(data[j]);
      if (!std::isfinite(value)) {
        const std::string message =
            fmt::format("{}: row {}, column {} (counted from 0) is {}; all values must be finite",
                        name_, rows_ + i, j, value);
        if (std::isnan(value)) throw MissingValueError(message);
        throw InputError(message);
      }
      minimum_[j] = std::min(minimum_[j], value);
      maximum_[j] = std::max(maximum_[j], value);
      if (value != 0) lowest_bit_[j] = std::min(lowest_bit_[j], lowest_bit_exponent(value));
      const double deviation = value - origin_[j];
      sums_[j] += deviation;
      squares_[j] += deviation * deviation;
    }
  }
}

void StatisticsPass::end_block() {
  const auto count = static_cast<double>(block_rows_);
  for (std::size_t j = 0; j < features_; ++j) {
    const double mean = sums_[j] / count;
    moments_[j].merge({count, origin_[j] + mean, std::max(0.0, squares_[j] - sums_[j] * mean)});
  }
  block_rows_ = 0;
}

std::vector<FeatureStatistics> StatisticsPass::statistics() {
  if (block_rows_ > 0) end_block();
  std::vector<FeatureStatistics> result(features_);
  for (std::size_t j = 0; j < features_; ++j) {
    result[j].minimum = minimum_[j];
    result[j].maximum = maximum_[j];
    result[j].mean = moments_[j].mean;
    result[j].variance = moments_[j].squares / moments_[j].count;
    const bool all_zero = lowest_bit_[j] == std::numeric_limits<int>::max();
    result[j].quantum_exponent = all_zero ? 0 : lowest_bit_[j];
    result[j].reserved = 0;
  }
  check_squared_range(name_, result);
  return result;
}

}  // namespace lloyd
