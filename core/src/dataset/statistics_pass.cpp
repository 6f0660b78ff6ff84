#include "dataset/statistics_pass.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "dataset/squared_range.hpp"

namespace lloyd {
namespace {

constexpr std::int64_t kBlockRows = kStatisticsBlockRows;

}  // namespace

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

StatisticsPass::StatisticsPass(std::string name, std::int64_t samples, std::int64_t features,
                               DType dtype, std::int64_t first_row)
    : name_(std::move(name)),
      features_(static_cast<std::size_t>(features)),
      dtype_(dtype),
      first_row_(first_row),
      block_{0, std::vector<double>(features_), std::vector<double>(features_),
             std::vector<double>(features_)},
      minimum_(features_, std::numeric_limits<double>::infinity()),
      maximum_(features_, -std::numeric_limits<double>::infinity()),
      lowest_bit_(features_, std::numeric_limits<int>::max()),
      moments_(features_),
      head_rows_(std::min(samples, (kBlockRows - first_row % kBlockRows) % kBlockRows)),
      merges_blocks_(first_row == 0),
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
    if (block_.rows == 0) {
      std::copy_n(data, features_, block_.origin.begin());
      std::fill(block_.sums.begin(), block_.sums.end(), 0.0);
      std::fill(block_.squares.begin(), block_.squares.end(), 0.0);
    }
    const bool in_head = rows_ < head_rows_;
    const std::int64_t block_size = in_head ? head_rows_ : kBlockRows;
    const std::int64_t part = std::min(rows, block_size - block_.rows);
    add_values(data, stride, part);
    block_.rows += part;
    rows_ += part;
    if (in_head) {
      for (std::int64_t i = 0; i < part; ++i) {
        head_.insert(head_.end(), data + i * stride, data + i * stride + features_);
      }
      if (block_.rows == head_rows_) block_.rows = 0;
    } else if (block_.rows == kBlockRows) {
      end_block();
    }
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
                        name_, first_row_ + rows_ + i, j, value);
        if (std::isnan(value)) throw MissingValueError(message);
        throw InputError(message);
      }
      minimum_[j] = std::min(minimum_[j], value);
      maximum_[j] = std::max(maximum_[j], value);
      if (value != 0) lowest_bit_[j] = std::min(lowest_bit_[j], lowest_bit_exponent(value));
      const double deviation = value - block_.origin[j];
      block_.sums[j] += deviation;
      block_.squares[j] += deviation * deviation;
    }
  }
}

void StatisticsPass::end_block() {
  for (std::size_t j = 0; j < features_; ++j) {
    const auto block =
        FeatureMoments::of_block(block_.rows, block_.origin[j], block_.sums[j], block_.squares[j]);
    if (merges_blocks_) {
      moments_[j].merge(block);
    } else {
      blocks_.push_back(block);
    }
  }
  block_.rows = 0;
}

void StatisticsPass::combine(const Ranks& ranks) {
  std::vector<double> state = pack_state();
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (rank == ranks.rank()) {
      if (!merges_blocks_) append_to(state);
      state = pack_state();
    }
    ranks.broadcast(std::span(state), rank);
  }
  unpack_state(state);
}

// Appends the rows of this rank to those of the ranks before it.
void StatisticsPass::append_to(const std::vector<double>& before) {
  const auto columns = static_cast<std::ptrdiff_t>(features_);
  const OpenBlock tail = block_;
  const std::vector<double> minimum = minimum_;
  const std::vector<double> maximum = maximum_;
  const std::vector<int> lowest_bit = lowest_bit_;
  unpack_state(before);
  for (std::size_t j = 0; j < features_; ++j) {
    minimum_[j] = std::min(minimum_[j], minimum[j]);
    maximum_[j] = std::max(maximum_[j], maximum[j]);
    lowest_bit_[j] = std::min(lowest_bit_[j], lowest_bit[j]);
  }
  for (auto row = head_.begin(); row != head_.end(); row += columns) {
    for (std::size_t j = 0; j < features_; ++j) {
      const double deviation = row[static_cast<std::ptrdiff_t>(j)] - block_.origin[j];
      block_.sums[j] += deviation;
      block_.squares[j] += deviation * deviation;
    }
  }
  merges_blocks_ = true;
  block_.rows += head_rows_;
  if (block_.rows == kBlockRows) end_block();
  for (auto block = blocks_.begin(); block != blocks_.end(); block += columns) {
    for (std::size_t j = 0; j < features_; ++j) {
      moments_[j].merge(block[static_cast<std::ptrdiff_t>(j)]);
    }
  }
  if (tail.rows > 0) block_ = tail;
}

std::vector<double> StatisticsPass::pack_state() const {
  std::vector<double> state = {static_cast<double>(block_.rows)};
  for (std::size_t j = 0; j < features_; ++j) {
    const FeatureMoments& moments = moments_[j];
    state.insert(state.end(), {block_.origin[j], block_.sums[j], block_.squares[j], minimum_[j],
                               maximum_[j], static_cast<double>(lowest_bit_[j]), moments.count,
                               moments.mean, moments.squares});
  }
  return state;
}

void StatisticsPass::unpack_state(const std::vector<double>& state) {
  const double* next = state.data();
  block_.rows = static_cast<std::int64_t>(*next++);
  for (std::size_t j = 0; j < features_; ++j) {
    block_.origin[j] = *next++;
    block_.sums[j] = *next++;
    block_.squares[j] = *next++;
    minimum_[j] = *next++;
    maximum_[j] = *next++;
    lowest_bit_[j] = static_cast<int>(*next++);
    moments_[j].count = *next++;
    moments_[j].mean = *next++;
    moments_[j].squares = *next++;
  }
}

std::vector<FeatureStatistics> StatisticsPass::statistics() {
  if (block_.rows > 0) end_block();
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
