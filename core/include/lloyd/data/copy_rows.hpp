// copy_rows: data files from one format to another, whatever their size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include <lloyd/data/files.hpp>
#include <lloyd/data/row_source.hpp>

namespace lloyd {

/// How rows are copied.
struct CopyOptions {
  /// Of what is written; not set: the source's. float64 is rounded to float32.
  std::optional<DType> dtype = std::nullopt;
  std::int64_t threads = 1;  ///< that read at the same time; what is written is the same
  /// Told, block by block, the rows written and the part of all that they are (0 to 1). False ends
  /// the work with Cancelled.
  std::function<bool(std::int64_t rows, double part)> progress = {};
};

/// What was copied.
struct CopiedRows {
  std::int64_t samples = 0;   ///< n
  std::int64_t features = 0;  ///< d
};

/// Writes all rows to a file whose format its extension gives, see create_rows(), in blocks of some
/// megabytes. Throws InputError for a value that is not finite or beyond float32 and for what
/// reading throws, Error where the file cannot be written and Cancelled; the file then is what it
/// was before.
CopiedRows copy_rows(const RowSource& source, const std::filesystem::path& output,
                     const CopyOptions& options = {});

/// The same from a file of any format; text is read in blocks too, as values of the dtype that is
/// written (not set: `input`'s), and keeps names and classes where it becomes .csv again.
CopiedRows copy_file(const std::filesystem::path& file, const FileOptions& input,
                     const std::filesystem::path& output, const CopyOptions& options = {});

}  // namespace lloyd
