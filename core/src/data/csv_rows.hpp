// CsvRows: the rows of a CSV file, block by block.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/data/csv.hpp>

#include "data/csv_columns.hpp"
#include "data/csv_cursor.hpp"
#include "data/text_blocks.hpp"

namespace lloyd {

class CsvRows {
 public:
  /// Opens the file and reads its header, if there is one. Throws what read_csv throws.
  CsvRows(const std::filesystem::path& file, const CsvOptions& options);
  CsvRows(const CsvRows&) = delete;
  CsvRows& operator=(const CsvRows&) = delete;

  const CsvColumns& columns() const { return columns_; }
  /// The part of the file that has been read, 0 to 1.
  double fraction() const { return blocks_.fraction(); }
  /// How many rows there are by all appearance, after the first has been read; not known of gzip.
  std::optional<std::int64_t> estimated_rows() const;

  /// Appends the next rows, at most so many, to `values` (T is float or double) and their classes,
  /// where there is a label column, to `classes`. Returns how many: fewer only at the end. Throws
  /// what read_csv throws.
  template <class T>
  std::int64_t read(std::int64_t most, std::vector<T>& values, std::vector<std::string>& classes);

 private:
  bool find_row();
  template <class T>
  void read_row(std::vector<T>& values, std::vector<std::string>& classes);

  TextBlocks blocks_;
  std::string_view block_;
  CsvCursor cursor_;  // in block_
  CsvColumns columns_;
  std::int64_t rows_ = 0;
  std::int64_t first_row_bytes_ = 0;
};

}  // namespace lloyd
