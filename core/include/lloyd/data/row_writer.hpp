// RowWriter: writes a data file block by block.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <lloyd/plugin/abi/types.hpp>
#include <lloyd/plugin_folder.hpp>

namespace lloyd {

/// Description of the table to write. Only .csv keeps names and classes.
struct TableFormat {
  std::int64_t features = 0;                    ///< d >= 1
  DType dtype = DType::float32;                 ///< of the values written
  std::vector<std::string> feature_names = {};  ///< d names, or none
  bool has_classes = false;                     ///< whether each row has a class
  std::string class_name = {};                  ///< name of their column; empty: `class`
  std::int64_t rows = 0;                        ///< n if it is known in advance, else 0
};

/// Writes a table. Buffers some megabytes at most.
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  /// Appends rows x d values of the table's dtype, row-major and without gaps. `classes`: one per
  /// row if the table has classes, else ignored. Throws Error.
  virtual void write(const void* values, std::int64_t rows,
                     std::span<const std::string> classes = {}) = 0;
  /// Completes the file and renames it to its target. May be called once; without it the target is
  /// unchanged. Throws Error.
  virtual void commit() = 0;
};

/// Creates a file in the format of its extension, one of writable_extensions(). Throws InputError
/// for an unknown extension, a table that contradicts TableFormat or that the format cannot
/// hold, and a file that cannot be created or does not fit on the disk; see NewFile.
std::unique_ptr<RowWriter> create_rows(const std::filesystem::path& file, const TableFormat& table);

}  // namespace lloyd
