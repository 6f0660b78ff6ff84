// CsvCursor: the place in a CSV text up to which it has been read.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace lloyd {

/// A cell without the blanks and quotes around it.
struct CsvCell {
  std::string_view text;
  bool quoted = false;

  /// The text with doubled quotes inside a quoted cell made single.
  std::string unquoted() const;
};

/// Whether the text is a number in full, finite or not.
bool is_number(std::string_view text);

/// Cheap to copy: to look ahead, read on from a copy.
class CsvCursor {
 public:
  /// `file`, the name for messages, and `text` must outlive the cursor. Throws InputError for
  /// byte-order marks other than a single one of UTF-8.
  CsvCursor(std::string_view file, std::string_view text, char delimiter);

  /// Reads on in the text that follows the one just read to its end, which ended with a line.
  void continue_with(std::string_view text) {
    at_ = text.data();
    end_ = at_ + text.size();
  }

  std::string_view file() const { return file_; }
  std::size_t bytes_left() const { return static_cast<std::size_t>(end_ - at_); }
  /// The text from here on.
  std::string_view rest() const { return {at_, bytes_left()}; }
  /// The number of the line, from 1.
  std::int64_t line() const { return line_; }
  char delimiter() const { return delimiter_; }

  /// Goes to the next line that holds more than blanks, the present one included; false at the end
  /// of the text.
  bool find_row();
  /// At the end of a row's last cell.
  bool at_row_end() const {
    return at_ == end_ || *at_ == '\n' || (*at_ == '\r' && (at_ + 1 == end_ || at_[1] == '\n'));
  }
  /// Leaves the line after its last cell.
  void next_line();

  /// Passes the delimiter between two cells; false where there is none.
  bool take_delimiter() {
    if (at_ == end_ || *at_ != delimiter_) return false;
    ++at_;
    return true;
  }
  /// Reads a cell up to its delimiter or the row's end. `column` counts from 0, here and below.
  CsvCell take_cell(std::int64_t column);
  /// Reads a cell that must be a finite number in the range of T, which is float or double.
  template <class T>
  T take_number(std::int64_t column);
  /// Whether take_number() has made zero of another number since this was called last.
  bool take_rounded_to_zero() { return std::exchange(rounded_to_zero_, false); }

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
  /// Refuses bytes that no cell has.
  void check_byte(std::int64_t column) const;
  template <class T>
  T convert(std::string_view text, std::int64_t column);

  std::string_view file_;
  const char* at_;
  const char* end_;
  char delimiter_;
  std::int64_t line_ = 1;
  bool rounded_to_zero_ = false;
};

template <class T>
T CsvCursor::take_number(std::int64_t column) {
  // Most cells are plain numbers: they are read where they stand, before their end is looked for.
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
  return convert<T>(take_cell(column).text, column);
}

}  // namespace lloyd
