// Table: text in columns that fit a given width.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lloyd::experiment {

/// Columns of a terminal that tables are made for.
inline constexpr std::size_t kTableWidth = 100;

class Table {
 public:
  struct Column {
    std::string header;
    bool right = false;  ///< numbers stand at the right
  };

  Table(std::vector<Column> columns, std::size_t width)
      : columns_(std::move(columns)), width_(width) {}

  void add(std::vector<std::string> cells) { rows_.push_back({std::move(cells), {}, {}}); }
  /// A row that has a text, which may take several lines, in the place of the columns between its
  /// first cells and its last ones; there is one at least.
  void add(std::vector<std::string> first_cells, std::string text,
           std::vector<std::string> last_cells = {}) {
    rows_.push_back({std::move(first_cells), std::move(text), std::move(last_cells)});
  }

  /// No line is longer than the width: what does not fit is broken as wrap() does.
  std::string str() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string text;
    std::vector<std::string> last_cells;
  };

  std::string lay_out_text(const Row& row, const std::vector<std::size_t>& widths) const;
  std::vector<std::size_t> column_widths() const;
  void make_room_for_texts(std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::size_t width_;
  std::vector<Row> rows_;
};

/// Lines of at most `width` characters, broken at blanks where that is possible, else after a
/// hyphen between letters, else anywhere; control characters become '?'. Characters are counted as
/// UTF-8 code points.
std::vector<std::string> wrap(const std::string& text, std::size_t width);

/// UTF-8 code points.
std::size_t text_width(const std::string& text);

}  // namespace lloyd::experiment
