// CsvRows: reads the rows of a CSV file block by block.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/data/csv.hpp>

#include "data/csv/cells/csv_cell_kind.hpp"
#include "data/csv/cells/csv_cursor.hpp"
#include "data/csv/csv_class_check.hpp"
#include "data/csv/csv_columns.hpp"
#include "data/csv/csv_text_columns.hpp"
#include "data/csv/text_blocks.hpp"
#include "data/io/page_buffer.hpp"

namespace lloyd {

class CsvRows {
 public:
  /// Opens the file and reads its header, if there is one. Throws what read_csv() throws.
  CsvRows(const std::filesystem::path& file, const CsvOptions& options);
  CsvRows(const CsvRows&) = delete;
  CsvRows& operator=(const CsvRows&) = delete;

  const CsvColumns& columns() const { return columns_; }
  /// The fraction of the file that has been read, 0 to 1.
  double fraction() const { return blocks_.fraction(); }

  /// Appends up to `rows` rows to `values` (T: float or double) and their classes, if there is a
  /// label column, to `classes`. Returns the number of rows, which is smaller only at the end of
  /// the file. The memory limit counts `values` and all classes since forget_classes(). Throws what
  /// read_csv() throws.
  template <class T>
  std::int64_t read(std::int64_t most, PageBuffer<T>& values, std::vector<std::string>& classes);
  /// Number of rows left out so far for missing values.
  std::int64_t dropped() const { return static_cast<std::int64_t>(dropped_.size()); }
  /// The numbers of these rows in the file, from 0, ascending.
  const std::vector<std::int64_t>& dropped_rows() const { return dropped_; }
  /// For each feature, the number of these rows in which it is missing; empty if there are none.
  const std::vector<std::int64_t>& missing_counts() const { return missing_counts_; }
  /// How read() changed the features of the first rows (up to 1000, fewer if they are long).
  /// read<double>() changes integers beyond 2^53; the result is empty if there are none.
  std::vector<FeatureRounding> rounding() const;
  /// How the numbers of each feature are written, see Dataset::text_features.
  std::vector<TextFeature> text_features() const { return text_columns_.take(); }
  /// Texts of CsvOptions::missing that no cell of a feature had so far.
  std::vector<std::string> unused_missing() const;
  /// Tells that the caller has freed the classes that were read so far.
  void forget_classes() { class_bytes_ = 0; }

 private:
  bool find_row();
  bool extend_block(std::int64_t line);
  bool find_sample();
  template <class T>
  bool read_row(PageBuffer<T>& values, std::vector<std::string>& classes);
  template <class T>
  bool parse_row(const CsvCursor& start, PageBuffer<T>& values, std::vector<std::string>& classes);
  bool skip_missing_value(std::int64_t column);
  bool count_inspected_row();
  void measure_rounding(CsvCursor row, const float* values);
  template <class T>
  void keep_integers(CsvCursor row, const T* values);
  template <class T>
  void note_zeros(CsvCursor row, const T* values);
  template <class T>
  void find_nonzero(const PageBuffer<T>& values, std::size_t begin);
  void finish() const;
  void take_class(const CsvCursor& start, std::int64_t column, std::vector<std::string>& classes);
  void check_memory(std::int64_t bytes) const;

  std::int64_t memory_limit_;
  bool drop_missing_;
  MissingValues missing_;
  std::vector<bool> used_missing_;  // per text of columns_.missing
  TextBlocks blocks_;
  std::string_view block_;
  CsvCursor cursor_;  // in block_
  CsvColumns columns_;
  std::int64_t next_line_ = 1;  // the one after the last row, or after the header
  CsvClassCheck class_check_;
  // A number that was rounded to zero. Its column is refused if it has no other nonzero number.
  struct RoundedToZero {
    std::int64_t column = 0;
    std::int64_t feature = 0;
    std::int64_t line = 0;
    std::string text;
  };
  std::vector<RoundedToZero> rounded_to_zero_;  // first one of each column
  std::vector<bool> has_rounded_;               // per feature: has an entry in it
  std::vector<bool> has_nonzero_;               // per feature
  std::vector<FeatureRounding> rounding_;       // to float32
  std::vector<std::int64_t> integers_;  // rows with integers that float64 may round, row-major
  TextColumns text_columns_;
  std::int64_t rounding_rows_ = 0;     // kept rows whose rounding was measured
  std::int64_t kept_ = 0;              // rows
  std::vector<std::int64_t> dropped_;  // numbers of the rows left out
  std::vector<std::int64_t> missing_counts_;
  std::vector<std::int64_t> missing_in_row_;  // features
  std::int64_t fixed_bytes_ = 0;              // memory of the text and of the column descriptions
  std::int64_t class_bytes_ = 0;              // memory of the classes
};

}  // namespace lloyd
