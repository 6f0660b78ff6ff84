// StatisticsPass: validates the values of a data set and computes statistics and fingerprint in one
// pass, block by block.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <lloyd/data/row_source.hpp>
#include <lloyd/internal/ranks.hpp>
#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/sdk/row_statistics.hpp>

#include "dataset/fingerprint.hpp"
#include "parallel/range_workers.hpp"

namespace lloyd {

/// Throws InputError, with the name of the data set in front, if values or the squared distance of
/// two points of their bounding box reach kLargestSquare.
void check_squared_range(const std::string& name, const std::vector<FeatureStatistics>& features);

/// Receives all rows of a data set in ascending order, in pieces of any size; the results do not
/// depend on the pieces. Large pieces are computed on all processors that this process may use. The
/// caller's floating-point environment must be the default one (FloatEnvironment).
///
/// Rows may be spread over ranks in row order. Moments of blocks of 4096 rows of the whole are
/// merged in row order: each rank computes those of the whole blocks inside its rows, and combine()
/// merges them from rank to rank, so that the statistics have the bits of one process.
class StatisticsPass {
 public:
  /// `name` is the name of the data set, for messages. `samples`: rows that add() will receive;
  /// `first_row`: the row of the whole data set of the first of them. `source`: where the rows come
  /// from, for messages; it must outlive add(). May be null.
  StatisticsPass(std::string name, std::int64_t samples, std::int64_t features, DType dtype,
                 std::int64_t first_row = 0, const RowSource* source = nullptr);

  /// Adds the next rows: feature j of row i is `data[i*stride + j]`. Throws InputError for NaN or
  /// infinity, with its place in the file of the source or, without one, in the whole data set.
  void add(const void* data, std::int64_t stride, std::int64_t rows);

  /// Combines the statistics of all ranks, each of which has added all of its rows. Collective.
  void combine(const Ranks& ranks);

  /// The statistics of all rows, d entries. Throws InputError if squared distances may overflow.
  std::vector<FeatureStatistics> statistics();
  std::uint64_t fingerprint() const { return fingerprint_.value(); }

 private:
  template <class T>
  void add_rows(const T* data, std::int64_t stride, std::int64_t rows);
  template <class T>
  void add_to_blocks(const T* data, std::int64_t stride, std::int64_t rows,
                     std::span<BlockStatistics> blocks, bool opens);
  template <class T>
  [[noreturn]] void throw_not_finite(const T* data, std::int64_t stride, std::int64_t rows) const;
  void end_block(bool is_head);
  void merge_extremes(const BlockStatistics* block);
  void merge_block(std::int64_t rows, const BlockStatistics* block);
  void append_to(const std::vector<double>& before);
  std::vector<double> pack_state() const;
  void unpack_state(const std::vector<double>& state);

  std::string name_;
  std::size_t features_;
  DType dtype_;
  std::int64_t first_row_;
  const RowSource* source_;
  std::int64_t rows_ = 0;  // rows so far
  // The block that has not received all of its rows: how many it has, and d statistics of them.
  std::int64_t block_rows_ = 0;
  std::vector<BlockStatistics> block_;
  // Of all rows before that block: minimum, maximum and lowest_bit, and the moments. The former may
  // include the block: merging them again changes nothing.
  std::vector<BlockStatistics> extremes_;
  std::vector<FeatureMoments> moments_;
  // Rows before the first block boundary belong to a block that the rows of earlier ranks open.
  std::int64_t head_rows_ = 0;
  std::vector<double> head_;  // their values, head_rows_ x d
  // False while the moments of earlier ranks are unknown: those of whole blocks are kept.
  bool merges_blocks_;
  std::vector<FeatureMoments> blocks_;  // blocks x d
  Fingerprint fingerprint_;
  std::unique_ptr<RangeWorkers> workers_;  // created for the first large piece
};

}  // namespace lloyd
