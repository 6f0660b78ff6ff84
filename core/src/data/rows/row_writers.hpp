// The row writers of the formats; see create_rows().
#pragma once

#include <filesystem>
#include <memory>

#include <lloyd/data/row_writer.hpp>

namespace lloyd {

/// The minimum size of a table in bytes, with `size` bytes per value; 0 if the number of rows is
/// unknown or the size overflows.
inline std::int64_t min_bytes(const TableFormat& table, std::int64_t size) {
  std::int64_t bytes = 0;
  const bool overflows = __builtin_mul_overflow(table.rows, table.features, &bytes) ||
                         __builtin_mul_overflow(bytes, size, &bytes);
  return overflows ? 0 : bytes;
}

/// Throws InputError for less than one feature, an unknown dtype, a negative number of rows, and
/// another number of names than of features. `file`: for messages.
void check_table(const std::filesystem::path& file, const TableFormat& table);

/// A writer that passes calls on to `writer`. Throws InputError for a negative number of rows, null
/// values, another number of classes than of rows if the table has classes, and calls after
/// commit().
std::unique_ptr<RowWriter> make_checked_writer(const std::filesystem::path& file,
                                               const TableFormat& table,
                                               std::unique_ptr<RowWriter> writer);

std::unique_ptr<RowWriter> create_npy_rows(const std::filesystem::path& file,
                                           const TableFormat& table);
std::unique_ptr<RowWriter> create_csv_rows(const std::filesystem::path& file,
                                           const TableFormat& table);
std::unique_ptr<RowWriter> create_fvecs_rows(const std::filesystem::path& file,
                                             const TableFormat& table);

}  // namespace lloyd
