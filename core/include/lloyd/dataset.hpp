// Dataset: samples, in memory or read in blocks, with everything the core knows of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <lloyd/plugin/dataset_view.hpp>

namespace lloyd {

class BackingFile;
class RowSource;
class StatisticsPass;

/// Asked now and then; true ends the work with Cancelled. May be empty.
using StopFunction = std::function<bool()>;

/// A read-only matrix of n samples (rows) by d features (columns), float32 or float64, in host
/// memory: feature j of sample i is `data[i*stride + j]`. It shares ownership of that memory.
struct Matrix {
  std::shared_ptr<const void> storage;  ///< keeps `data` alive; may be null for memory not owned
  const void* data = nullptr;           ///< the value of row 0, column 0
  std::int64_t rows = 0;                ///< n
  std::int64_t columns = 0;             ///< d
  std::int64_t stride = 0;              ///< values from one row to the next
  DType dtype = DType::float32;         ///< type of the values
  /// The file that the values are mapped from; null for values of their own.
  std::shared_ptr<const BackingFile> file = nullptr;

  /// Takes over values in row-major order; `values.size()` must be rows x columns.
  static Matrix own(std::vector<float> values, std::int64_t rows, std::int64_t columns);
  /// The same for float64.
  static Matrix own(std::vector<double> values, std::int64_t rows, std::int64_t columns);

  /// One value, as float64; `row` and `column` are not checked.
  double at(std::int64_t row, std::int64_t column) const {
    const std::int64_t i = row * stride + column;
    return dtype == DType::float32 ? static_cast<const float*>(data)[i]
                                   : static_cast<const double*>(data)[i];
  }
};

/// A checked data set. Making one validates it and computes its statistics, once.
class Dataset {
 public:
  /// Throws InputError when the matrix has no rows or columns, a stride below its columns, sizes
  /// that overflow 64 bits, a NaN or an infinity (the message gives row and column of the first,
  /// counted from 0), or values whose squared distances overflow float64. `name` is used in
  /// messages and records.
  Dataset(std::string name, Matrix matrix);

  /// Values that were checked before, perhaps by another process: `statistics` (d of them) and
  /// `fingerprint` are taken as those of the matrix's values. Throws InputError as above for its
  /// shape, and where there are not d statistics.
  Dataset(std::string name, Matrix matrix, std::vector<FeatureStatistics> statistics,
          std::uint64_t fingerprint);

  /// A data set that stays where `source` reads it from, `block_rows` rows at a time (>= 1). Throws
  /// as above, what the source throws, and Cancelled once `stop`, which is told how many rows have
  /// been read and may be empty, says so.
  Dataset(std::shared_ptr<const RowSource> source, std::int64_t block_rows,
          const std::function<bool(std::int64_t rows)>& stop = {});

  /// For messages and records.
  const std::string& name() const { return name_; }
  /// The values; for a data set that is not in memory the shape alone, with `data` null.
  const Matrix& matrix() const { return matrix_; }
  /// Whether matrix() has the values.
  bool in_memory() const { return source_ == nullptr; }
  /// Where the rows are read from; null for a data set in memory.
  const std::shared_ptr<const RowSource>& source() const { return source_; }
  /// Throws InputError when the file that the values are mapped or read from was cut, extended or
  /// overwritten. Reads all values where nothing but the file's status-change time says so.
  void check_unchanged() const;
  /// The fingerprint of the values as they are now. Takes a pass over them.
  std::uint64_t compute_fingerprint() const;
  /// One sample, d values.
  std::vector<double> sample(std::int64_t row) const;
  /// n.
  std::int64_t samples() const { return matrix_.rows; }
  /// d.
  std::int64_t features() const { return matrix_.columns; }
  /// Type of the values.
  DType dtype() const { return matrix_.dtype; }

  /// One entry per feature.
  const std::vector<FeatureStatistics>& statistics() const { return statistics_; }
  /// Mean over the features of their variances: the unit of a relative tolerance.
  double mean_variance() const { return mean_variance_; }
  /// Identifies the values that were checked: equal for equal shape, dtype and values; not a
  /// cryptographic hash.
  std::uint64_t fingerprint() const { return fingerprint_; }
  /// Wall time of validation, statistics and fingerprint; 0 where they were given.
  double statistics_ms() const { return statistics_ms_; }

  /// The view that a backend is handed; valid as long as this data set. Without data where that is
  /// not in memory.
  DatasetView view() const;

  /// Optional class of each sample (n strings) from a label column, for comparing with clusters.
  std::vector<std::string> classes;
  /// Optional names of the features (d strings).
  std::vector<std::string> feature_names;

 private:
  void describe(const std::function<void(StatisticsPass&)>& read);
  void average_variance();

  std::string name_;
  Matrix matrix_;
  std::shared_ptr<const RowSource> source_;
  std::vector<FeatureStatistics> statistics_;
  double mean_variance_ = 0;
  std::uint64_t fingerprint_ = 0;
  double statistics_ms_ = 0;
};

}  // namespace lloyd
