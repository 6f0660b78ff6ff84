// CsvCursor: the reading position in a CSV text.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <lloyd/error.hpp>

#include "data/csv/cells/number_notation.hpp"

namespace lloyd {

/// A cell is empty, infinite or a text where a number is needed. The message lacks advice that
/// depends on the columns: see column_advice().
class NumberNeededError : public InputOptionError {
 public:
  enum class Cell { empty, infinite, name, date_or_quantity };

  NumberNeededError(std::string_view message, std::int64_t column, Cell cell)
      : InputOptionError(message), column_(column), cell_(cell) {}
  std::int64_t column() const { return column_; }
  Cell cell() const { return cell_; }

 private:
  std::int64_t column_;
  Cell cell_;
};

/// The text ends within a quoted cell.
class UnclosedQuoteError : public InputError {
 public:
  using InputError::InputError;
};

/// A cell, without the blanks and quotes around it.
struct CsvCell {
  std::string_view text;
  bool quoted = false;
  bool has_line_break = false;  ///< only in quotes

  /// The text with each doubled quote replaced by one.
  std::string unquoted() const;
};

/// True if the whole text is a number, finite or not.
bool is_number(std::string_view text);

/// True for digits, with or without a sign.
bool is_integer(std::string_view text);
/// The text without the spaces and tabs at its ends, which a number in quotes may have.
std::string_view trimmed(std::string_view text);

/// A reading position. Cheap to copy: look ahead with a copy.
class CsvCursor {
 public:
  /// `file` is the name for messages; it and `text` must outlive the cursor. Throws InputError for
  /// any byte-order mark but one of UTF-8. `notation`: that of the file, from which
  /// rewrite_numbers() has rewritten the numbers; messages give advice for it.
  CsvCursor(std::string_view file, std::string_view text, const NumberNotation& notation);

  /// Continues with the following text, after the former one, which ended with a line, was read to
  /// its end.
  void continue_with(std::string_view text) {
    at_ = text.data();
    end_ = at_ + text.size();
  }

  std::string_view file() const { return file_; }
  std::size_t bytes_left() const { return static_cast<std::size_t>(end_ - at_); }
  /// The text that has not been read yet.
  std::string_view rest() const { return {at_, bytes_left()}; }
  /// The current line, counted from 1.
  std::int64_t line() const { return line_; }
  char delimiter() const { return delimiter_; }
  /// The notation of the file.
  const NumberNotation& notation() const { return notation_; }

  /// Moves to the first non-blank line, beginning with the current one; false at the end of the
  /// text.
  bool find_row();
  /// True at the end of a row's last cell.
  bool at_row_end() const {
    return at_ == end_ || *at_ == '\n' || (*at_ == '\r' && (at_ + 1 == end_ || at_[1] == '\n'));
  }
  /// Moves to the next line; call it after the last cell of a row.
  void next_line();

  /// Skips the delimiter between two cells; false if there is none.
  bool take_delimiter() {
    if (at_ == end_ || *at_ != delimiter_) return false;
    ++at_;
    return true;
  }
  /// Reads a cell up to its delimiter or the end of the row; in quotes it may have line breaks.
  /// `column` counts from 0, here and below. Throws InputError, UnclosedQuoteError among them.
  CsvCell take_cell(std::int64_t column);
  /// Reads a cell that must be a finite number in the range of T, which is float or double. Throws
  /// InputError, NumberNeededError among them.
  template <class T>
  T take_number(std::int64_t column);
  /// True if take_number() has rounded a number to zero since this was last called.
  bool take_rounded_to_zero() { return std::exchange(rounded_to_zero_, false); }

  /// Throws InputError if the cell, which was read last, has a line break.
  void refuse_line_break(const CsvCell& cell, std::int64_t column) const;

  /// Throws InputError if the text is a number with a point where decimals have commas.
  void refuse_point(std::string_view text, std::int64_t column) const;

  /// Throws InputError with file, line and column.
  [[noreturn]] void fail(std::int64_t column, std::string_view message) const {
    fail_at(line_, column, message);
  }
  [[noreturn]] void fail_at(std::int64_t line, std::int64_t column, std::string_view message) const;
  /// The same for messages that name one of CsvOptions: throw InputOptionError.
  [[noreturn]] void fail_for_option(std::int64_t column, std::string_view message) const {
    fail_for_option_at(line_, column, message);
  }
  [[noreturn]] void fail_for_option_at(std::int64_t line, std::int64_t column,
                                       std::string_view message) const;

 private:
  std::string with_place(std::int64_t line, std::int64_t column, std::string_view message) const;
  bool is_blank(char c) const { return (c == ' ' || c == '\t') && c != delimiter_; }
  void skip_blanks() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
  }
  bool at_cell_end() const { return at_row_end() || *at_ == delimiter_; }
  CsvCell take_quoted_cell(std::int64_t column);
  [[noreturn]] void fail_after_quote(std::int64_t column, std::int64_t first_line) const;
  /// Throws InputError for bytes that no cell may hold.
  void check_byte(std::int64_t column) const;
  std::string with_decimal_point(std::string_view text) const;
  template <class T>
  T convert(std::string_view text, std::int64_t column);

  std::string_view file_;
  const char* at_;
  const char* end_;
  char delimiter_;
  NumberNotation notation_;
  std::int64_t line_ = 1;
  bool rounded_to_zero_ = false;
};

template <class T>
T CsvCursor::take_number(std::int64_t column) {
  // Fast path: most cells are plain numbers, which are parsed before the end of the cell is
  // searched.
  skip_blanks();
  const char* const start = at_;
  T value = 0;
  const auto [stop, error] = std::from_chars(at_, end_, value);
  if (error == std::errc{} && std::isfinite(value)) {
    at_ = stop;
    skip_blanks();
    if (at_cell_end()) return value;
  }
  at_ = start;
  const CsvCell cell = take_cell(column);
  refuse_line_break(cell, column);
  return convert<T>(cell.quoted ? trimmed(cell.text) : cell.text, column);
}

}  // namespace lloyd
