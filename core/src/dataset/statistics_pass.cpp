#include "dataset/statistics_pass.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "dataset/squared_range.hpp"

namespace lloyd {
namespace {

constexpr std::int64_t kBlockRows = kStatisticsBlockRows;

// Rows with fewer values are added by the calling thread.
constexpr std::int64_t kParallelValues = std::int64_t{1} << 20;
// Upper limit of blocks x d that are computed before they are merged: 12 MiB of statistics.
constexpr std::int64_t kBatchEntries = std::int64_t{1} << 18;
// Features of a piece of work, so that data with many features and few blocks occupy all threads.
constexpr std::int64_t kRangeFeatures = 256;
// Rows that are read for one feature after another: few enough that they stay in L1 even if their
// stride is a power of two.
constexpr std::int64_t kGroupRows = 16;

// Begins a block for the features whose values in its first row are at `row`.
template <class T>
void open_block(const T* row, std::span<BlockStatistics> features) {
  for (std::size_t j = 0; j < features.size(); ++j) {
    features[j] = {};
    features[j].origin = static_cast<double>(row[j]);
  }
}

// Adds rows of a block to its statistics. Returns whether all values are finite.
template <class T>
bool add_to_features(const T* data, std::int64_t stride, std::int64_t rows,
                     std::span<BlockStatistics> features) {
  bool finite = true;
  for (std::int64_t begin = 0; begin < rows; begin += kGroupRows, data += kGroupRows * stride) {
    const std::int64_t group = std::min(kGroupRows, rows - begin);
    for (std::size_t j = 0; j < features.size(); ++j) {
      BlockStatistics feature = features[j];  // in registers
      const T* next = data + j;
      for (std::int64_t i = 0; i < group; ++i, next += stride) {
        const auto value = static_cast<double>(*next);
        finite &= std::isfinite(value);
        feature.add(value);
      }
      features[j] = feature;
    }
  }
  return finite;
}

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
                               DType dtype, std::int64_t first_row, const RowSource* source)
    : name_(std::move(name)),
      features_(static_cast<std::size_t>(features)),
      dtype_(dtype),
      first_row_(first_row),
      source_(source),
      block_(features_),
      extremes_(features_),
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
}

template <class T>
void StatisticsPass::add_rows(const T* data, std::int64_t stride, std::int64_t rows) {
  while (rows > 0) {
    const bool in_head = rows_ < head_rows_;
    std::int64_t part = 0;
    if (!in_head && block_rows_ == 0 && rows >= kBlockRows) {
      const std::int64_t blocks =
          std::clamp<std::int64_t>(kBatchEntries / std::ssize(block_), 1, rows / kBlockRows);
      part = blocks * kBlockRows;
      std::vector<BlockStatistics> batch(static_cast<std::size_t>(blocks) * features_);
      add_to_blocks(data, stride, part, batch, true);
      for (auto block = batch.begin(); block != batch.end(); block += std::ssize(block_)) {
        merge_block(kBlockRows, &*block);
      }
    } else {
      const std::int64_t block_size = in_head ? head_rows_ : kBlockRows;
      part = std::min(rows, block_size - block_rows_);
      add_to_blocks(data, stride, part, block_, block_rows_ == 0);
      block_rows_ += part;
      if (in_head) {
        for (std::int64_t i = 0; i < part; ++i) {
          head_.insert(head_.end(), data + i * stride, data + i * stride + features_);
        }
      }
      if (block_rows_ == block_size) end_block(in_head);
    }
    rows_ += part;
    data += part * stride;
    rows -= part;
  }
}

// Adds rows to their blocks: `blocks` has d entries for each, and all blocks but the last get
// kBlockRows rows. `opens`: whether these are the first rows of the blocks. Each range of features
// of a block is a piece of work, as is the fingerprint, which has to read all rows in order.
template <class T>
void StatisticsPass::add_to_blocks(const T* data, std::int64_t stride, std::int64_t rows,
                                   std::span<BlockStatistics> blocks, bool opens) {
  const auto d = static_cast<std::int64_t>(features_);
  const std::int64_t ranges = (d + kRangeFeatures - 1) / kRangeFeatures;
  std::atomic<bool> finite{true};
  const auto work = [&](std::int64_t item, std::int64_t /*end*/) {
    if (item == 0) return fingerprint_.add(data, stride, rows);
    const std::int64_t block = (item - 1) / ranges;
    const std::int64_t first = (item - 1) % ranges * kRangeFeatures;
    const std::int64_t begin = block * kBlockRows;
    const T* const values = data + begin * stride + first;
    const auto range =
        blocks.subspan(static_cast<std::size_t>(block * d + first),
                       static_cast<std::size_t>(std::min(kRangeFeatures, d - first)));
    if (opens) open_block(values, range);
    if (!add_to_features(values, stride, std::min(kBlockRows, rows - begin), range)) finite = false;
  };
  const std::int64_t items = 1 + std::ssize(blocks) / d * ranges;
  if (rows * d < kParallelValues) {
    for (std::int64_t item = 0; item < items; ++item) work(item, item + 1);
  } else {
    if (workers_ == nullptr) workers_ = std::make_unique<RangeWorkers>();
    workers_->for_each_range(items, 1, work);
  }
  if (!finite) throw_not_finite(data, stride, rows);
}

// Throws the error for the first value that is not finite, of rows that follow those so far.
template <class T>
void StatisticsPass::throw_not_finite(const T* data, std::int64_t stride, std::int64_t rows) const {
  for (std::int64_t row = 0; row < rows; ++row, data += stride) {
    for (std::size_t j = 0; j < features_; ++j) {
      const T value = data[j];
      if (std::isfinite(value)) continue;
      ValuePlace place{rows_ + row, static_cast<std::int64_t>(j)};
      if (source_ != nullptr) place = source_->place_in_file(place);
      const std::string message =
          fmt::format("{}: row {}, column {} (counted from 0) is {}; all values must be finite",
                      name_, first_row_ + place.row, place.column, value);
      if (std::isnan(value)) throw MissingValueError(message);
      throw InputError(message);
    }
  }
  // The value was another one when the statistics read it.
  throw InputError(name_ + ": values changed while they were read");
}

// Ends the block that is open. Of the head, whose rows belong to a block of earlier ranks, only the
// extremes count.
void StatisticsPass::end_block(bool is_head) {
  if (is_head) {
    merge_extremes(block_.data());
  } else {
    merge_block(block_rows_, block_.data());
  }
  block_rows_ = 0;
  std::fill(block_.begin(), block_.end(), BlockStatistics{});
}

void StatisticsPass::merge_extremes(const BlockStatistics* block) {
  for (std::size_t j = 0; j < features_; ++j) extremes_[j].merge_extremes(block[j]);
}

void StatisticsPass::merge_block(std::int64_t rows, const BlockStatistics* block) {
  merge_extremes(block);
  for (std::size_t j = 0; j < features_; ++j) {
    const auto moments =
        FeatureMoments::of_block(rows, block[j].origin, block[j].sum, block[j].squares);
    if (merges_blocks_) {
      moments_[j].merge(moments);
    } else {
      blocks_.push_back(moments);
    }
  }
}

void StatisticsPass::combine(const Ranks& ranks) {
  merge_extremes(block_.data());
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
  const std::int64_t tail_rows = block_rows_;
  const std::vector<BlockStatistics> tail = block_;
  const std::vector<BlockStatistics> extremes = extremes_;
  unpack_state(before);
  merge_extremes(extremes.data());
  for (auto row = head_.begin(); row != head_.end(); row += columns) {
    for (std::size_t j = 0; j < features_; ++j) {
      block_[j].add(row[static_cast<std::ptrdiff_t>(j)]);
    }
  }
  merges_blocks_ = true;
  block_rows_ += head_rows_;
  if (block_rows_ == kBlockRows) end_block(false);
  for (auto block = blocks_.begin(); block != blocks_.end(); block += columns) {
    for (std::size_t j = 0; j < features_; ++j) {
      moments_[j].merge(block[static_cast<std::ptrdiff_t>(j)]);
    }
  }
  if (tail_rows > 0) {
    block_rows_ = tail_rows;
    block_ = tail;
  }
}

std::vector<double> StatisticsPass::pack_state() const {
  std::vector<double> state = {static_cast<double>(block_rows_)};
  for (std::size_t j = 0; j < features_; ++j) {
    const BlockStatistics& block = block_[j];
    const FeatureMoments& moments = moments_[j];
    const BlockStatistics& all = extremes_[j];
    state.insert(state.end(), {block.origin, block.sum, block.squares, all.minimum, all.maximum,
                               static_cast<double>(all.lowest_bit), moments.count, moments.mean,
                               moments.squares});
  }
  return state;
}

void StatisticsPass::unpack_state(const std::vector<double>& state) {
  const double* next = state.data();
  block_rows_ = static_cast<std::int64_t>(*next++);
  for (std::size_t j = 0; j < features_; ++j) {
    block_[j] = {};
    block_[j].origin = *next++;
    block_[j].sum = *next++;
    block_[j].squares = *next++;
    extremes_[j].minimum = *next++;
    extremes_[j].maximum = *next++;
    extremes_[j].lowest_bit = static_cast<std::int32_t>(*next++);
    moments_[j].count = *next++;
    moments_[j].mean = *next++;
    moments_[j].squares = *next++;
  }
}

std::vector<FeatureStatistics> StatisticsPass::statistics() {
  if (block_rows_ > 0) end_block(false);
  std::vector<FeatureStatistics> result(features_);
  for (std::size_t j = 0; j < features_; ++j) {
    const BlockStatistics& all = extremes_[j];
    result[j].minimum = all.minimum;
    result[j].maximum = all.maximum;
    result[j].mean = moments_[j].mean;
    result[j].variance = moments_[j].squares / moments_[j].count;
    const bool all_zero = all.lowest_bit == std::numeric_limits<std::int32_t>::max();
    result[j].quantum_exponent = all_zero ? 0 : all.lowest_bit;
    result[j].reserved = 0;
  }
  check_squared_range(name_, result);
  return result;
}

}  // namespace lloyd
