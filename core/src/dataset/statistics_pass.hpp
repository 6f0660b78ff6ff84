// StatisticsPass: validates the values of a data set and computes statistics and fingerprint in one
// pass, block by block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>

#include "dataset/fingerprint.hpp"

namespace lloyd {

/// Receives all rows of a data set in ascending order, in pieces of any size; the results do not
/// depend on the pieces. Computes in the caller's floating-point environment.
class StatisticsPass {
 public:
  /// `name` is the name of the data set, for messages.
  StatisticsPass(std::string name, std::int64_t samples, std::int64_t features, DType dtype);

  /// Adds the next rows: feature j of row i is `data[i*stride + j]`. Throws InputError for NaN or
  /// infinity, with the row in the whole data set and the column, counted from 0.
  void add(const void* data, std::int64_t stride, std::int64_t rows);

  /// The statistics of all rows, d entries. Throws InputError if squared distances may overflow.
  std::vector<FeatureStatistics> statistics();
  std::uint64_t fingerprint() const { return fingerprint_.value(); }

 private:
  // Moments of one feature.
  struct Moments {
    double count = 0;
    double mean = 0;
    double squares = 0;  // sum of squared deviations from the mean
    void merge(const Moments& other);
  };

  template <class T>
  void add_rows(const T* data, std::int64_t stride, std::int64_t rows);
  template <class T>
  void add_values(const T* data, std::int64_t stride, std::int64_t rows);
  void end_block();

  std::string name_;
  std::size_t features_;
  DType dtype_;
  std::int64_t rows_ = 0;                  // rows so far
  std::int64_t block_rows_ = 0;            // rows in the current block
  std::vector<double> origin_;             // first row of the current block
  std::vector<double> sums_, squares_;     // of deviations from the origin, in the current block
  std::vector<double> minimum_, maximum_;  // here and below: of all rows so far
  std::vector<int> lowest_bit_;
  std::vector<Moments> moments_;
  Fingerprint fingerprint_;
};

}  // namespace lloyd
