// Statistics of the features of a data set, by blocks of rows: the definition that the core and the
// kernels of devices share, so that both compute the same bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>

namespace lloyd {

/// Rows of a block, from row 0 of the data set on; the last block may have fewer. Moments are
/// computed relative to the first value of each block, and merged. The size is fixed, so that
/// results are the same on every machine.
inline constexpr std::int64_t kStatisticsBlockRows = 4096;

/// Moments of one feature.
/// Source: T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating formulae and a pairwise algorithm
/// for computing sample variances", 1979.
struct FeatureMoments {
  double count = 0;    ///< rows
  double mean = 0;     ///< of the values
  double squares = 0;  ///< sum of squared deviations from the mean

  /// The moments of a block of `rows` rows. `origin`: value of the first row; `sum`, `squares`:
  /// sums of the deviations from it and of their squares.
  static FeatureMoments of_block(std::int64_t rows, double origin, double sum, double squares) {
    const auto count = static_cast<double>(rows);
    const double mean = sum / count;
    return {count, origin + mean, std::max(0.0, squares - sum * mean)};
  }

  /// Appends the rows of `other`. Blocks are merged in row order.
  void merge(const FeatureMoments& other) {
    const double total = count + other.count;
    const double delta = other.mean - mean;
    squares += other.squares + delta * delta * (count * other.count / total);
    mean += delta * (other.count / total);
    count = total;
  }
};

/// Exponent of the lowest set bit of a value that is finite and not zero.
inline int lowest_bit_exponent(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<int>((bits >> 52) & 0x7ff);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  if (exponent > 0) mantissa |= std::uint64_t{1} << 52;
  return (exponent > 0 ? exponent : 1) - 1075 + std::countr_zero(mantissa);
}

/// One feature of the rows of one block, added in row order, each operation rounded to float64.
struct BlockStatistics {
  double origin = 0;   ///< the value of the first row
  double sum = 0;      ///< of the deviations from the origin
  double squares = 0;  ///< of their squares
  /// Of equal values (zeros of either sign), the first.
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();  ///< the same
  /// Smallest lowest_bit_exponent() of the nonzero values; INT32_MAX if all are zero.
  std::int32_t lowest_bit = std::numeric_limits<std::int32_t>::max();
  std::int32_t reserved = 0;  ///< 0

  /// Adds the value of the next row, which must be finite. `origin` must have been set.
  void add(double value) {
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
    if (value != 0) lowest_bit = std::min(lowest_bit, lowest_bit_exponent(value));
    const double deviation = value - origin;
    sum += deviation;
    squares += deviation * deviation;
  }

  /// Merges minimum, maximum and lowest_bit of the rows that follow.
  void merge_extremes(const BlockStatistics& next) {
    minimum = std::min(minimum, next.minimum);
    maximum = std::max(maximum, next.maximum);
    lowest_bit = std::min(lowest_bit, next.lowest_bit);
  }
};

/// Merges the blocks of all features.
class StatisticsMerge {
 public:
  /// For d features.
  explicit StatisticsMerge(std::int64_t features)
      : moments_(static_cast<std::size_t>(features)),
        extremes_(static_cast<std::size_t>(features)) {}

  /// Adds the next block of a feature. Blocks come in row order.
  void add(std::int64_t feature, std::int64_t rows, const BlockStatistics& block) {
    const auto j = static_cast<std::size_t>(feature);
    moments_[j].merge(FeatureMoments::of_block(rows, block.origin, block.sum, block.squares));
    extremes_[j].merge_extremes(block);
  }

  /// Writes the statistics of all rows (d entries).
  void write(FeatureStatistics* statistics) const {
    for (std::size_t j = 0; j < moments_.size(); ++j) {
      const BlockStatistics& all = extremes_[j];
      const bool all_zero = all.lowest_bit == std::numeric_limits<std::int32_t>::max();
      statistics[j] = {all.minimum,
                       all.maximum,
                       moments_[j].mean,
                       moments_[j].squares / moments_[j].count,
                       all_zero ? 0 : all.lowest_bit,
                       0};
    }
  }

 private:
  std::vector<FeatureMoments> moments_;
  std::vector<BlockStatistics> extremes_;  // only minimum, maximum, lowest_bit
};

/// Hash of one value: `index` is row x d + feature, `bits` its bit pattern (zero-extended for
/// float32). RowsDescription::hash is the sum over all values modulo 2^64, so it does not depend on
/// the order or the stride. Source of the mixing: G. L. Steele et al., "Fast splittable
/// pseudorandom number generators", 2014.
constexpr std::uint64_t value_hash(std::uint64_t index, std::uint64_t bits) {
  std::uint64_t value = (index + 1) * 0x9e3779b97f4a7c15u ^ bits;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

}  // namespace lloyd
