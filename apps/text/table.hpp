// Table: text in columns, fitted to a given width.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lloyd::experiment {

/// Width of tables that do not go to a terminal, in columns.
inline constexpr std::size_t kTableWidth = 100;

class Table {
 public:
  struct Column {
    std::string header;
    bool right = false;  ///< right-aligned, for numbers
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> cells) { rows_.push_back({std::move(cells), {}, {}}); }
  /// A row in which `text`, wrapped to several lines if necessary, spans the columns between the
  /// first and the last cells; it must span at least one column.
  void add(std::vector<std::string> first_cells, std::string text,
           std::vector<std::string> last_cells = {}) {
    rows_.push_back({std::move(first_cells), std::move(text), std::move(last_cells)});
  }

  /// Renders the table. Cells are broken as by wrap(), so that no line is longer than `width`,
  /// unless that would break words or numbers of up to 20 characters.
  std::string str(std::size_t width = kTableWidth) const;
  /// A GitHub Markdown table. A text that spans columns stands in the first of them.
  std::string markdown() const;
  /// A LaTeX `tabular` with the rules of the package booktabs. A text that spans columns is a
  /// `multicolumn` cell.
  std::string latex() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string text;
    std::vector<std::string> last_cells;
  };

  std::vector<std::string> cells_of(const Row& row) const;
  std::string lay_out_text(const Row& row, const std::vector<std::size_t>& widths,
                           std::size_t width) const;
  std::vector<std::size_t> column_widths(std::size_t width) const;
  void make_room_for_texts(std::vector<std::size_t>& widths, std::size_t width) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// Splits a text into lines of at most `width` UTF-8 code points: at blanks if possible, else after
/// a hyphen that follows two letters and precedes one, else after '=', '/', '_' or ',', else
/// anywhere. Control characters become '?'.
std::vector<std::string> wrap(const std::string& text, std::size_t width);
/// The same lines as one text, each with a line feed.
std::string wrapped(const std::string& text, std::size_t width);

/// Escapes a text for Markdown, cells of tables included; unprintable characters become '?'.
std::string escape_markdown(const std::string& text);
/// Escapes a text for LaTeX in the same way.
std::string escape_latex(const std::string& text);

/// Number of UTF-8 code points.
std::size_t text_width(const std::string& text);

}  // namespace lloyd::experiment
