// RowWriter: a data file that is written block by block.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <lloyd/plugin/types.hpp>

namespace lloyd {

/// What is written. Names and classes are kept by .csv alone.
struct TableFormat {
  std::int64_t features = 0;                    ///< d >= 1
  DType dtype = DType::float32;                 ///< of the values written
  std::vector<std::string> feature_names = {};  ///< d names, or none
  bool has_classes = false;                     ///< whether each row has a class
  std::int64_t rows = 0;                        ///< n where it is known before; else 0
};

/// Holds some megabytes at most, however much is written.
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  /// Appends rows x d values of the table's dtype, row-major and without gaps, and where the table
  /// has classes as many of those. Throws Error.
  virtual void write(const void* values, std::int64_t rows,
                     std::span<const std::string> classes = {}) = 0;
  /// Ends the file and puts it in its place, once; without that the target stays what it was.
  /// Throws Error.
  virtual void commit() = 0;
};

/// Begins a file whose format its extension gives: .csv, .npy, .fvecs (of float32 alone) or .h5 and
/// .hdf5 (data set "data"). Throws InputError for another extension, a table that the format does
/// not hold, and a file that cannot be made or for which there is no room, see NewFile.
std::unique_ptr<RowWriter> create_rows(const std::filesystem::path& file, const TableFormat& table);

}  // namespace lloyd
