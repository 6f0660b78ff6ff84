// RowSource: samples that are read in blocks of rows, so that they need not fit in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/dataset_view.hpp>

namespace lloyd {

/// A read-only matrix of n samples by d features, somewhere outside memory. All functions may be
/// called from several threads at once.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// For messages and records.
  virtual const std::string& name() const = 0;
  virtual std::int64_t samples() const = 0;   ///< n >= 1
  virtual std::int64_t features() const = 0;  ///< d >= 1
  virtual DType dtype() const = 0;            ///< of the values read
  /// Copies rows [rows.begin, rows.end) in row-major order, without gaps, to `values`: room for
  /// rows.size() x d values of dtype(), aligned to one value. Throws InputError when they cannot be
  /// read.
  virtual void read(RowRange rows, void* values) const = 0;
  /// Bytes that read() holds at its peak beside `values`, however few the rows: those of a chunk
  /// that is unpacked as a whole, for example.
  virtual std::int64_t reading_bytes() const { return 0; }
  /// The file that the rows are read from, if its status-change time is no longer what it was when
  /// the file was opened: whoever knows what the rows were has to read them again. Else empty.
  virtual std::string touched_file() const { return {}; }
};

/// The rows of a matrix in memory, which is shared, not copied.
std::unique_ptr<RowSource> rows_of(std::string name, Matrix matrix);

}  // namespace lloyd
