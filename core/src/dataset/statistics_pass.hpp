// StatisticsPass: validates the values of a data set and computes statistics and fingerprint in one
// pass, block by block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <lloyd/internal/ranks.hpp>
#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/sdk/row_statistics.hpp>

#include "dataset/fingerprint.hpp"

namespace lloyd {

/// Throws InputError, with the name of the data set in front, if values or the squared distance of
/// two points of their bounding box reach kLargestSquare.
void check_squared_range(const std::string& name, const std::vector<FeatureStatistics>& features);

/// Receives all rows of a data set in ascending order, in pieces of any size; the results do not
/// depend on the pieces. Computes in the caller's floating-point environment.
///
/// Rows may be spread over ranks in row order. Moments of blocks of 4096 rows of the whole are
/// merged in row order: each rank computes those of the whole blocks inside its rows, and combine()
/// merges them from rank to rank, so that the statistics have the bits of one process.
class StatisticsPass {
 public:
  /// `name` is the name of the data set, for messages. `samples`: rows that add() will receive;
  /// `first_row`: the row of the whole data set of the first of them.
  StatisticsPass(std::string name, std::int64_t samples, std::int64_t features, DType dtype,
                 std::int64_t first_row = 0);

  /// Adds the next rows: feature j of row i is `data[i*stride + j]`. Throws InputError for NaN or
  /// infinity, with the row in the whole data set and the column, counted from 0.
  void add(const void* data, std::int64_t stride, std::int64_t rows);

  /// Combines the statistics of all ranks, each of which has added all of its rows. Collective.
  void combine(const Ranks& ranks);

  /// The statistics of all rows, d entries. Throws InputError if squared distances may overflow.
  std::vector<FeatureStatistics> statistics();
  std::uint64_t fingerprint() const { return fingerprint_.value(); }

 private:
  // A block that has not received all of its rows.
  struct OpenBlock {
    std::int64_t rows = 0;
    std::vector<double> origin;         // its first row
    std::vector<double> sums, squares;  // of deviations from the origin
  };

  template <class T>
  void add_rows(const T* data, std::int64_t stride, std::int64_t rows);
  template <class T>
  void add_values(const T* data, std::int64_t stride, std::int64_t rows);
  void end_block();
  void append_to(const std::vector<double>& before);
  std::vector<double> pack_state() const;
  void unpack_state(const std::vector<double>& state);

  std::string name_;
  std::size_t features_;
  DType dtype_;
  std::int64_t first_row_;
  std::int64_t rows_ = 0;  // rows so far
  OpenBlock block_;
  std::vector<double> minimum_, maximum_;  // here and in the next two: of all rows so far
  std::vector<int> lowest_bit_;
  std::vector<FeatureMoments> moments_;
  // Rows before the first block boundary belong to a block that the rows of earlier ranks open.
  std::int64_t head_rows_ = 0;
  std::vector<double> head_;  // their values, head_rows_ x d
  // False while the moments of earlier ranks are unknown: those of whole blocks are kept.
  bool merges_blocks_;
  std::vector<FeatureMoments> blocks_;  // blocks x d
  Fingerprint fingerprint_;
};

}  // namespace lloyd
