// RowSource: reads samples in blocks of rows, so that they need not fit into memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/rounding.hpp>

namespace lloyd {

/// The rows of a source, mapped from its file into memory. Functions are thread-safe.
class RowMapping {
 public:
  virtual ~RowMapping() = default;
  /// The values of row 0, with the alignment of one value. All rows follow without gaps.
  virtual const void* values() const = 0;
  /// Makes rows readable. Throws InputError if that fails or the file has changed.
  virtual void load(RowRange rows) const = 0;
  /// Gives the memory of rows back to the system; they can be loaded again.
  virtual void release(RowRange rows) const = 0;
};

/// The place of a value in a table.
struct ValuePlace {
  std::int64_t row = 0;     ///< counted from 0
  std::int64_t column = 0;  ///< the same
};

/// A read-only matrix of n samples by d features that need not be in memory. All functions are
/// thread-safe.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// The name of the data set, for messages and records.
  virtual const std::string& name() const = 0;
  virtual std::int64_t samples() const = 0;   ///< n >= 1
  virtual std::int64_t features() const = 0;  ///< d >= 1
  virtual DType dtype() const = 0;            ///< type of the values
  /// Where the value at `place` stands in the file, for messages: elsewhere if this is a view that
  /// leaves out rows or columns.
  virtual ValuePlace place_in_file(ValuePlace place) const { return place; }
  /// Copies rows [rows.begin, rows.end) to `values`, row-major and without gaps: rows.size() x d
  /// values of dtype(), with the alignment of one value. Every call must give the same values for a
  /// row. Must fill all rows, or throw InputError if they cannot be read. When blocks of a Dataset
  /// are read, Cancelled is passed on as well, and any other exception becomes an InputError that
  /// names the rows, as does a row that was not filled: all rows are checked in the first pass, and
  /// the last row of each call in later ones.
  virtual void read(RowRange rows, void* values) const = 0;
  /// Peak memory of read() in bytes, excluding `values`, even for a single row: for example that of
  /// a compressed chunk, which is decompressed as a whole.
  virtual std::int64_t reading_bytes() const { return 0; }
  /// True if several threads that read a few thousand rows each are together at least as fast as
  /// one thread that reads all of these rows in one call. Passes that keep their state then read
  /// rows on the threads that use them, see MemoryPlan::window_rows.
  virtual bool reads_in_parallel() const { return false; }
  /// The rows without a copy; null if read() converts values or they cannot be mapped.
  virtual std::unique_ptr<RowMapping> map() const { return nullptr; }
  /// The path of the source file if its status-change time (ctime) has changed since it was opened,
  /// so that the rows must be compared again; otherwise empty.
  virtual std::string touched_file() const { return {}; }
  /// How float64 rounds the 64-bit integers in the first rows of a file: d entries, or none if
  /// these values are exact. Throws what read() throws.
  virtual std::vector<FeatureRounding> rounding() const { return {}; }
};

/// The rows of a matrix in memory, without a copy. Throws InputError for a matrix without values;
/// read() throws it for rows that do not exist.
std::unique_ptr<RowSource> rows_of(std::string name, Matrix matrix);

}  // namespace lloyd
