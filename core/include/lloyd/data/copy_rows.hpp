// copy_rows: converts data files of any size from one format to another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/data/files.hpp>
#include <lloyd/data/row_source.hpp>
#include <lloyd/rounding.hpp>

namespace lloyd {

/// Options of a conversion.
struct CopyOptions {
  /// Type of the values written; if not set, that of the source. float64 is rounded to float32.
  std::optional<DType> dtype = std::nullopt;
  std::int64_t threads = 1;  ///< threads that read; the output does not depend on it
  /// Called after each block with the number of rows written and the fraction of all rows (0 to 1).
  /// Returning false cancels the work with Cancelled.
  std::function<bool(std::int64_t rows, double fraction)> progress = {};
};

/// What was copied.
struct CopiedRows {
  std::int64_t samples = 0;   ///< n
  std::int64_t features = 0;  ///< d
  std::int64_t dropped = 0;   ///< rows of text that were left out, see CsvOptions::drop_missing
  /// Features of a text file that rounding to float32 distorts, or of 64-bit integers that rounding
  /// to float64 distorts.
  std::vector<RoundingLoss> rounding_losses = {};
  std::vector<std::string> feature_names = {};  ///< of a text file; may be empty
  bool has_classes = false;                     ///< the text file has a column of classes
  /// The values of the first rows of a text file as they were written, row-major: up to 1000 rows,
  /// fewer if they are long.
  std::vector<double> first_rows = {};
  std::vector<std::string> unused_missing = {};  ///< see Dataset::unused_missing
};

/// Copies all rows, in blocks of some megabytes, to a file whose extension gives its format; see
/// create_rows(). Throws InputError for a value that is not finite or beyond float32 and for errors
/// of reading, Error if the file cannot be written, and Cancelled. After an exception the output
/// file is unchanged.
CopiedRows copy_rows(const RowSource& source, const std::filesystem::path& output,
                     const CopyOptions& options = {});

/// Copies a file of any format. Text is read block by block too, as values of the dtype that is
/// written (if not set: that of `input`). Feature names and classes are kept if the output is .csv.
CopiedRows copy_file(const std::filesystem::path& file, const FileOptions& input,
                     const std::filesystem::path& output, const CopyOptions& options = {});

}  // namespace lloyd
