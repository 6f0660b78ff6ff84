// Dataset: samples, in memory or read block by block, with their statistics and metadata.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/rounding.hpp>

namespace lloyd {

class BackingFile;
class Communicator;
class DeviceRows;
class LoadedBackend;
class Ranks;
class RowSource;
class StatisticsPass;

/// Polled during long work: returning true cancels the work with a Cancelled exception. An empty
/// function never cancels.
using StopFunction = std::function<bool()>;
/// Receives the progress of long work, on the calling thread: finished steps and their total.
using ProgressFunction = std::function<void(std::int64_t done, std::int64_t total)>;

/// A read-only matrix of n samples (rows) by d features (columns), float32 or float64, in host
/// memory: feature j of sample i is `data[i*stride + j]`. It shares ownership of that memory.
struct Matrix {
  std::shared_ptr<const void> storage;  ///< keeps `data` alive; may be null for memory not owned
  const void* data = nullptr;           ///< the value of row 0, column 0
  std::int64_t rows = 0;                ///< n
  std::int64_t columns = 0;             ///< d
  std::int64_t stride = 0;              ///< values from one row to the next
  DType dtype = DType::float32;         ///< type of the values
  /// The file that the values are mapped from; null if they are not mapped.
  std::shared_ptr<const BackingFile> file = nullptr;

  /// Takes ownership of row-major float32 values. Throws InputError unless `values.size()` is rows
  /// x columns.
  static Matrix from_values(std::vector<float> values, std::int64_t rows, std::int64_t columns);
  /// The same for float64 values.
  static Matrix from_values(std::vector<double> values, std::int64_t rows, std::int64_t columns);

  /// Refers to row-major float32 values that the caller keeps alive and unchanged. `stride`: values
  /// from one row to the next; 0: `columns`.
  static Matrix view(const float* values, std::int64_t rows, std::int64_t columns,
                     std::int64_t stride = 0);
  /// The same for float64 values.
  static Matrix view(const double* values, std::int64_t rows, std::int64_t columns,
                     std::int64_t stride = 0);

  /// One value, as float64; `row` and `column` are not checked.
  double at(std::int64_t row, std::int64_t column) const {
    const std::int64_t i = row * stride + column;
    return dtype == DType::float32 ? static_cast<const float*>(data)[i]
                                   : static_cast<const double*>(data)[i];
  }
};

/// A read-only matrix of n samples (rows) by d features (columns), float32 or float64, in the
/// memory of a device: feature j of sample i is `data[i*stride + j]`. Unless `storage` owns that
/// memory, the caller keeps it alive.
struct DeviceMatrix {
  std::shared_ptr<const void> storage;  ///< keeps `data` alive; may be null for memory not owned
  const void* data = nullptr;           ///< device address of the value of row 0, column 0
  std::int64_t rows = 0;                ///< n
  std::int64_t columns = 0;             ///< d
  std::int64_t stride = 0;              ///< values from one row to the next
  DType dtype = DType::float32;         ///< type of the values
  /// Index of the device, as backends list their devices (CUDA: among the visible ones).
  std::int32_t device = 0;
  /// The stream whose work so far writes the values (CUDA: a cudaStream_t); null: the default
  /// stream.
  void* stream = nullptr;

  /// Refers to row-major float32 values. `stride`: values from one row to the next; 0: `columns`.
  static DeviceMatrix view(const float* values, std::int64_t rows, std::int64_t columns,
                           std::int64_t stride = 0, std::int32_t device = 0,
                           void* stream = nullptr);
  /// The same for float64 values.
  static DeviceMatrix view(const double* values, std::int64_t rows, std::int64_t columns,
                           std::int64_t stride = 0, std::int32_t device = 0,
                           void* stream = nullptr);
};

/// How the numbers of a feature are written in a text file, where that shows more than their
/// values. Read from the first rows, up to 1000.
struct TextFeature {
  /// A value with leading zeros, as postal codes and identifiers have: "00123"; empty if there is
  /// none.
  std::string leading_zeros;
  /// A value such as "1.234" if the point may separate thousands: at least 20 values have exactly
  /// three decimals, all others are integers below 1000, and no feature has other decimals;
  /// otherwise empty.
  std::string grouped;
  /// One of these integers; empty if there is none, as may be where semicolons separate cells.
  std::string integer;
};

/// A validated data set. The constructors validate the values and compute their statistics, once.
/// From then on the values must not change as long as the data set or a session on it is used.
/// Fits, labelling, seeding, evaluation and standardization throw InputError for a data set that
/// was moved from; the `data` of its matrix() is null. See Error for what else the functions throw.
///
/// The values of a matrix that is mapped from a file (Matrix::file) are those of the file. Changes
/// of the file are noticed by check_mapped_file(), which fits, labelling and evaluation call before
/// they read values, and by check_unchanged(), which sessions call. But if the file is truncated
/// while its values are being read, or the program reads them itself, the process receives SIGBUS,
/// which the library does not handle; see mapped_file_at(). Files that may be truncated should be
/// read in blocks, by open_rows(), or copied into memory, by matrix_of(): truncation is then an
/// InputError.
class Dataset {
 public:
  /// A data set in memory. `name` appears in messages and records. Throws InputError if the matrix
  /// has no rows or no columns, a stride below its number of columns, or a size that overflows 64
  /// bits; if a value is NaN or infinite (the message gives row and column of the first, counted
  /// from 0); or if squared distances of the values overflow float64.
  Dataset(std::string name, Matrix matrix);

  /// The same for a matrix that holds all rows of `source`, with the name of the source. A message
  /// about a value that is not finite gives its row and column in the file of the source.
  Dataset(Matrix matrix, const RowSource& source);

  /// A data set in memory whose values were validated before, perhaps by another process.
  /// `statistics` (d entries) and `fingerprint` are not checked. Throws InputError for an invalid
  /// shape, as above, and unless there are d statistics.
  Dataset(std::string name, Matrix matrix, std::vector<FeatureStatistics> statistics,
          std::uint64_t fingerprint);

  /// A data set that is read from `source` in every pass, in blocks of `block_rows` rows (>= 1;
  /// blocks of less than 64 KiB are slow). Throws as above, what the source throws, and Cancelled
  /// if `stop` returns true; `stop` receives the number of rows read so far and may be empty. Later
  /// passes compare up to 1024 rows with those of this first one, and throw InputError if a row has
  /// other values.
  Dataset(std::shared_ptr<const RowSource> source, std::int64_t block_rows,
          const std::function<bool(std::int64_t rows)>& stop = {});

  /// A data set in device memory, which backends with kCapabilityDeviceMemory use in place or copy
  /// within the device; no sample is copied from host memory. `backend` computes the statistics,
  /// with the bits of a data set in host memory, and copies single samples to the host where the
  /// library needs them; sessions may use other backends. The fingerprint differs from that of the
  /// same values in host memory. Throws as the first constructor, InputError for a device that the
  /// backend does not list, and BackendError for a backend that is not available, reads only host
  /// memory, or fails.
  Dataset(std::string name, DeviceMatrix matrix, std::shared_ptr<const LoadedBackend> backend);

  /// The part of a data set that this rank of `communicator` holds, in memory; collective. The rows
  /// of the ranks, by ascending rank, are the rows of the whole data set; a rank may have none, and
  /// its matrix then needs only a type and columns. statistics() and mean_variance() are those of
  /// the whole, with the bits of a data set in one process; fingerprint() is that of the part. If
  /// the matrix of a rank is invalid, or has other columns or another type than that of rank 0, all
  /// ranks throw InputError; all throw BackendError if the communicator fails. A null communicator
  /// is one rank.
  static Dataset part(std::string name, Matrix matrix, std::shared_ptr<Communicator> communicator);

  /// The same for rows that are read from `source` in every pass, in blocks of `block_rows` rows
  /// (>= 1), as above; `source` has only the rows of this rank, see select_rows(). Some ranks may
  /// hold their rows in memory while others read theirs. If a source cannot be read or `stop`
  /// returns true on a rank, all ranks throw.
  static Dataset part(std::shared_ptr<const RowSource> source, std::int64_t block_rows,
                      std::shared_ptr<Communicator> communicator,
                      const std::function<bool(std::int64_t rows)>& stop = {});

  /// The communicator of part(); null for a data set of one process.
  const std::shared_ptr<Communicator>& communicator() const { return communicator_; }
  /// Row of the whole data set of this part's first row; 0 for a data set of one process.
  std::int64_t first_row() const { return first_row_; }
  /// Number of samples of the whole data set; n for a data set of one process.
  std::int64_t total_samples() const { return communicator_ ? total_samples_ : samples(); }

  /// The name of the data set, for messages and records.
  const std::string& name() const { return name_; }
  /// The values. If the data set is not in host memory, `data` is null and only the shape is set.
  const Matrix& matrix() const& { return matrix_; }
  /// The same of a temporary, by value: the result shares ownership of the values.
  Matrix matrix() const&& { return matrix_; }
  /// True if matrix() holds the values, in host memory.
  bool in_memory() const { return source_ == nullptr && device_ == nullptr; }
  /// True if the values are in device memory.
  bool in_device_memory() const { return device_ != nullptr; }
  /// The values in device memory; null if they are elsewhere.
  const DeviceMatrix* device_matrix() const;
  /// The source of the rows, with the comparison of rows; null for a data set in memory.
  const std::shared_ptr<const RowSource>& source() const { return source_; }
  /// Throws InputError if the file behind the values was truncated, extended or overwritten. If
  /// only the file's status-change time differs, all values are read to find out.
  void check_unchanged() const;
  /// Throws InputError if the values are mapped from a file whose size or modification time has
  /// changed; a read beyond the end of a truncated file would raise SIGBUS. Takes one fstat(). Also
  /// throws InputError for a data set that was moved from.
  void check_mapped_file() const;
  /// Computes the fingerprint of the current values, in one pass over them.
  std::uint64_t compute_fingerprint() const;
  /// Copies sample `row`: d values, as float64. Reads the source or the device if the data set is
  /// not in host memory, and throws what it throws. Throws InputError unless 0 <= row < n, and what
  /// check_mapped_file() throws.
  std::vector<double> sample(std::int64_t row) const;
  /// Copies the samples with these row numbers, in this order: rows.size() x d values. Throws like
  /// sample(). One copy if the data set is in device memory.
  std::vector<double> samples_of(std::span<const std::int64_t> rows) const;
  /// Number of samples, n; of a part, those of this rank.
  std::int64_t samples() const { return matrix_.rows; }
  /// Number of features, d.
  std::int64_t features() const { return matrix_.columns; }
  /// Type of the values.
  DType dtype() const { return matrix_.dtype; }

  /// Statistics of the features, d entries.
  const std::vector<FeatureStatistics>& statistics() const& { return statistics_; }
  /// The same of a temporary, by value.
  std::vector<FeatureStatistics> statistics() const&& { return statistics_; }
  /// The mean variance of the features, in the squared unit of the data. Relative tolerances are
  /// multiples of it.
  double mean_variance() const { return mean_variance_; }
  /// Hash of shape, type and values at the time of validation. Not cryptographic.
  std::uint64_t fingerprint() const { return fingerprint_; }
  /// Wall time of validation, statistics and fingerprint in milliseconds; 0 if they were given.
  double statistics_ms() const { return statistics_ms_; }

  /// The view for a backend, valid as long as this object. `data` is null if the data set is not in
  /// memory, and a device address if it is in device memory.
  DatasetView view() const;

  /// Optional classes of the samples (n strings) from a label column, to compare clusters with.
  std::vector<std::string> classes;
  /// The number of that column in the file, from 0; -1 without classes.
  std::int64_t class_column = -1;
  /// Its name; empty if it has none.
  std::string class_name;
  /// Optional names of the features (d strings).
  std::vector<std::string> feature_names;
  /// Number of rows of the file that were left out for missing values; see CsvOptions.
  std::int64_t dropped_rows = 0;
  /// The numbers of these rows, ascending, counted from 0 over all rows of the file (not the header
  /// or blank lines).
  std::vector<std::int64_t> dropped_row_numbers;
  /// For each feature (d entries) the number of these rows in which it is missing; empty if no row
  /// was left out, or if they were not counted.
  std::vector<std::int64_t> missing_counts;
  /// How rounding changed each feature (d entries); empty unless the numbers of a text file were
  /// rounded to float32, or 64-bit integers to float64. See rounding_losses().
  std::vector<FeatureRounding> rounding;
  /// How the numbers of each feature (d entries) of a text file are written; empty if that shows
  /// nothing.
  std::vector<TextFeature> text_features;
  /// The texts of CsvOptions::missing that no cell of a feature has.
  std::vector<std::string> unused_missing;

 private:
  Dataset() = default;
  void open_source(std::shared_ptr<const RowSource> source);
  void read_source(StatisticsPass& pass, std::int64_t block_rows,
                   const std::function<bool(std::int64_t rows)>& stop);
  void describe(const std::function<void(StatisticsPass&)>& read,
                const RowSource* source = nullptr);
  void join_ranks(std::shared_ptr<Communicator> communicator, const std::function<void()>& open,
                  const std::function<void(StatisticsPass&)>& read);
  void describe_part(const Ranks& ranks, const std::function<void(StatisticsPass&)>& read);
  void check_matrix() const;
  void check_file() const;
  std::uint64_t hash_values() const;
  void check_row(std::int64_t row) const;
  void average_variance();

  // A matrix that keeps only its shape when it is moved from, like that of a data set which is not
  // in memory.
  struct OwnedMatrix : Matrix {
    OwnedMatrix() = default;
    explicit OwnedMatrix(Matrix matrix) noexcept : Matrix(std::move(matrix)) {}
    OwnedMatrix(const OwnedMatrix&) = default;
    OwnedMatrix(OwnedMatrix&& other) noexcept : OwnedMatrix() { *this = std::move(other); }
    OwnedMatrix& operator=(const OwnedMatrix&) = default;
    OwnedMatrix& operator=(OwnedMatrix&& other) noexcept {
      Matrix::operator=(other);
      if (this != &other) other.release();
      return *this;
    }
    OwnedMatrix& operator=(Matrix matrix) noexcept {
      Matrix::operator=(std::move(matrix));
      return *this;
    }

   private:
    void release() noexcept {
      storage = nullptr;
      data = nullptr;
      file = nullptr;
    }
  };
  // Tells sessions whether the data set still exists. Each data set has its own token.
  class Presence {
   public:
    Presence() : token_(std::make_shared<char>()) {}
    Presence(const Presence&) : Presence() {}
    Presence(Presence&&) noexcept = default;
    Presence& operator=(const Presence& other) {
      if (this != &other && token_ == nullptr) token_ = std::make_shared<char>();
      return *this;
    }
    std::weak_ptr<const char> observe() const { return token_; }

   private:
    std::shared_ptr<const char> token_;  // null after a move
  };
  friend class OpenedDataset;

  std::string name_;
  OwnedMatrix matrix_;
  Presence presence_;
  std::shared_ptr<const RowSource> source_;
  std::shared_ptr<const DeviceRows> device_;  // null: not in device memory
  std::vector<FeatureStatistics> statistics_;
  double mean_variance_ = 0;
  std::uint64_t fingerprint_ = 0;
  double statistics_ms_ = 0;
  std::shared_ptr<Communicator> communicator_;
  std::int64_t first_row_ = 0;
  std::int64_t total_samples_ = 0;
};

}  // namespace lloyd
