#include "data/csv/csv_refusals.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/shown.hpp>

#include "data/csv/cells/csv_cell_kind.hpp"

namespace lloyd {
namespace {

// Refuses the line sep=; with which a file tells spreadsheets its delimiter.
void refuse_delimiter_line(const CsvCursor& cursor, const std::vector<CsvCell>& first) {
  constexpr std::string_view kBegin = "sep=";
  const std::string_view line = cursor.rest().substr(0, cursor.rest().find_first_of("\r\n"));
  if (first.size() > 2 || line.size() != kBegin.size() + 1 || !line.starts_with(kBegin)) return;
  const char sign = line.back();
  const bool is_set = sign == cursor.delimiter();
  cursor.fail_for_option(
      0,
      fmt::format("'{}' tells spreadsheets the delimiter: sed 1d removes the line{}", shown(line),
                  is_set || sign == '"' || sign == '\\' || sign == '\t'
                      ? ""
                      : fmt::format(", and delimiter = \"{}\" reads the others", sign)));
}

// True if the separator is the decimal mark or the thousands separator of the file.
bool is_part_of_numbers(char separator, const NumberNotation& notation) {
  return (separator == ',' && notation.has_decimal_comma()) || separator == notation.thousands;
}

// The number of separators without a blank after them, as in "height,weight"; the name of a single
// column may be "height, cm".
std::int64_t count_separators(std::string_view text, char separator) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == separator && (separator == ' ' || text.substr(i + 1, 1) != " ")) ++count;
  }
  return count;
}

// True for a number with a decimal comma or thousands separators.
bool is_number_with_separator(std::string_view text) {
  std::string decimal(text);
  std::replace(decimal.begin(), decimal.end(), ',', '.');
  return find_groups(text) || is_number(decimal);
}

// Refuses a table whose lines are single cells in quotes that hold delimiters: "a,b" above "1,2".
// As a number with a decimal comma or thousands separators, such a cell would join its columns.
void refuse_quoted_lines(const CsvCursor& cursor, const std::vector<CsvCell>& first,
                         const std::vector<CsvCell>& second) {
  if (first.size() != 1 || second.size() != 1 || !first.front().quoted) return;
  const std::string_view text = first.front().text;
  const CsvCell& below = second.front();
  const NumberNotation& notation = cursor.notation();
  constexpr std::string_view kSeparators = ",;\t";
  for (const char separator : std::string(kSeparators) + cursor.delimiter()) {
    const std::int64_t count = count_separators(text, separator);
    if (count == 0) continue;
    // rewrite_numbers() removed the separators of numbers, and quotes that these required.
    const bool joins_columns = is_part_of_numbers(separator, notation) && is_number(below.text) &&
                               (below.quoted || separator == cursor.delimiter());
    const bool has_same_count = below.quoted && count_separators(below.text, separator) == count;
    if (!joins_columns && !has_same_count) continue;
    const std::string remedy =
        fmt::format("sed 's/^\"//; s/\"{}$//' removes the quotes",
                    cursor.rest().substr(0, cursor.rest().find('\n')).ends_with('\r') ? "\\r" : "");
    if (joins_columns) {
      cursor.fail_for_option(
          0, fmt::format(
                 "the only column is called '{0}'; if {1} separates the cells, {2}, and "
                 "{3} must be left out; otherwise write the name without {1}",
                 shown(text), separator == '\t' ? "a tab" : fmt::format("'{}'", separator), remedy,
                 notation.decimal_comma ? "the decimal_comma option" : "the thousands option"));
    }
    const bool may_be_number = separator == ',' && is_number_with_separator(text);
    cursor.fail_for_option(
        0, fmt::format(
               "the whole line is one cell in quotes, '{}'; if {} separates its cells, "
               "{}{}",
               shown(text), separator == '\t' ? "a tab" : fmt::format("'{}'", separator), remedy,
               may_be_number
                   ? fmt::format("; otherwise{}", number_advice(text, notation).text.substr(1))
                   : ""));
  }
}

// Refuses HTML, JSON and libsvm's format, by the first line.
void refuse_web_and_sparse_formats(const CsvCursor& cursor, std::size_t columns) {
  std::string_view line = cursor.rest().substr(0, cursor.rest().find_first_of("\r\n"));
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  std::string lower(line.substr(0, 20));
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (lower.starts_with("<!doctype") || lower.starts_with("<html")) {
    cursor.fail(0, "this is HTML, such as the page of an error or a login, and no table");
  }
  if (line == "{" || line == "[" || lower.starts_with("{\"") || lower.starts_with("[{")) {
    cursor.fail(0, "this is JSON, which is not read; rows of numbers are needed");
  }
  if (columns == 1 && is_sparse_row(line)) {
    cursor.fail(0,
                "this is sparse text in libsvm's format, which is not read; every row must have "
                "the values of all features");
  }
}

// Refuses a comment above the table.
void refuse_comment(const CsvCursor& cursor, const std::vector<CsvCell>& first,
                    const std::vector<CsvCell>& second) {
  if (first.front().text.starts_with('#') && !second.empty() && first.size() != second.size()) {
    cursor.fail(0,
                "the line has other columns than the next; lines that begin with '#' are rows too: "
                "grep -v '^#' removes them");
  }
}

bool is_decimal_digit(char c) {
  return c >= '0' && c <= '9';
}

// The text of a row without quotes whose delimiters, if it has any, are decimal commas: each is
// between digits. Empty for other rows.
std::string undivided_text(const std::vector<CsvCell>& cells, char delimiter) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string_view cell = cells[i].text;
    if (cells[i].quoted) return {};
    if (i > 0) {
      const bool is_comma = delimiter == ',' && !text.empty() && is_decimal_digit(text.back()) &&
                            !cell.empty() && is_decimal_digit(cell.front());
      if (!is_comma) return {};
      text += delimiter;
    }
    text += cell;
  }
  return text;
}

}  // namespace

void refuse_other_delimiter(const CsvCursor& row, const std::vector<CsvCell>& first,
                            const std::vector<CsvCell>& second, bool names_columns) {
  const std::string above = undivided_text(first, row.delimiter());
  const std::string text = undivided_text(second, row.delimiter());
  if (above.empty() || text.empty()) return;
  for (const char separator : {';', '|', '\t', ','}) {
    const NumberNotation& notation = row.notation();
    if (separator == row.delimiter() || is_part_of_numbers(separator, notation)) continue;
    const auto count = std::count(text.begin(), text.end(), separator);
    if (count == 0 || std::count(above.begin(), above.end(), separator) != count) continue;
    std::string number(trimmed(std::string_view(text).substr(0, text.find(separator))));
    std::replace(number.begin(), number.end(), ',', '.');
    // Another message tells what the first cell is, and names the delimiter.
    if (!names_columns && (number.empty() || is_number(number))) continue;
    constexpr std::string_view kOption = "set the delimiter option";
    const std::string remedy =
        separator == '\t'  ? fmt::format("if tabs separate the cells, {}", kOption)
        : separator == ',' ? "if ',' separates the cells, set delimiter = \",\""
                           : fmt::format("if '{}' separates the cells, {}", separator, kOption);
    const bool may_have_commas = separator == ';' && !notation.decimal_comma;
    row.fail_for_option(
        0,
        fmt::format("'{}' is not a number; {}{}", shown(text), remedy,
                    may_have_commas ? ", or the decimal_comma option for cells such as 2,5" : ""));
  }
}

void refuse_other_formats(const CsvCursor& cursor, const std::vector<CsvCell>& first,
                          const std::vector<CsvCell>& second) {
  refuse_delimiter_line(cursor, first);
  refuse_web_and_sparse_formats(cursor, first.size());
  refuse_quoted_lines(cursor, first, second);
  refuse_comment(cursor, first, second);
}

void refuse_undivided_header(const CsvCursor& header, const std::vector<CsvCell>& names) {
  if (names.size() > 1 || names.front().quoted || !header.notation().decimal_comma) return;
  if (names.front().text.find(',') == std::string_view::npos) return;
  header.fail_for_option(
      0, fmt::format("the only column is called '{}'; if ',' separates the cells, leave the "
                     "decimal_comma option out, otherwise put the name in quotes",
                     shown(names.front().text)));
}

void refuse_row_names(const CsvCursor& row, const std::vector<CsvCell>& names,
                      const std::vector<CsvCell>& cells) {
  if (cells.size() != names.size() + 1 || cells.back().text.empty()) return;
  const CsvCell& first = cells.front();
  const bool is_row_name = first.quoted || (first.text == "1" && names.size() > 1) ||
                           kind_of_cell(first.text) == CellKind::name;
  const auto has_semicolon = [](const CsvCell& cell) {
    return cell.text.find(';') != std::string_view::npos;
  };
  if (!is_row_name || std::any_of(names.begin(), names.end(), has_semicolon)) return;
  row.fail(0, fmt::format("the row has {}, but the header has {}, as in a table of R's "
                          "write.table, whose first column holds row names and has no name; write "
                          "it with row.names = FALSE, or put a name in front of the header",
                          format_count(cells.size(), "column"), names.size()));
}

}  // namespace lloyd
