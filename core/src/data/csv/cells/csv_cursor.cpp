#include "data/csv/cells/csv_cursor.hpp"

#include <algorithm>
#include <system_error>
#include <type_traits>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/shell_word.hpp>
#include <lloyd/internal/shown.hpp>

#include "data/csv/cells/csv_cell_kind.hpp"

namespace lloyd {
namespace {

// Parses the whole text. Returns result_out_of_range if the nearest value is infinite, or zero for
// a number that is not zero.
template <class T>
std::errc parse(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  // from_chars() accepts no plus sign; "+-1" stays invalid.
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  const auto [stop, error] = std::from_chars(text.data() + (plus ? 1 : 0), end, value);
  return stop == end ? error : std::errc::invalid_argument;
}

// True if the magnitude of a number other than zero, which parse() has accepted, is below 1, even
// if it is beyond the range of every type.
bool is_below_one(std::string_view text) {
  const std::size_t letter = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, letter);
  const auto point = static_cast<double>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<double>(digits.find_first_of("123456789"));
  // The number is d.ddd times ten to this power.
  double power = first < point ? point - first - 1 : point - first;
  double exponent = 0;
  if (letter < text.size()) {
    const std::string_view written = text.substr(letter + 1);
    if (parse(written, exponent) != std::errc{}) exponent = written[0] == '-' ? -1e300 : 1e300;
  }
  power += exponent;
  return power < 0;
}

}  // namespace

std::string CsvCell::unquoted() const {
  if (!quoted) return std::string(text);
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    result += text[at];
    if (text[at] == '"') ++at;  // the second of two quotes
  }
  return result;
}

bool is_integer(std::string_view text) {
  text.remove_prefix(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_number(std::string_view text) {
  double value = 0;
  const std::errc error = parse(text, value);
  return error == std::errc{} || error == std::errc::result_out_of_range;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

CsvCursor::CsvCursor(std::string_view file, std::string_view text, const NumberNotation& notation)
    : file_(file),
      at_(text.data()),
      end_(text.data() + text.size()),
      delimiter_(notation.delimiter),
      notation_(notation) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw InputError(
        fmt::format("{}: the text is in UTF-16; it must be in UTF-8: iconv -f utf-16 -t utf-8 {} > "
                    "NEW.csv converts it",
                    file, shell_word(file)));
  }
  if (!text.starts_with(kByteOrderMark)) return;
  at_ += kByteOrderMark.size();
  if (text.substr(kByteOrderMark.size()).starts_with(kByteOrderMark)) {
    throw InputError(fmt::format("{}: the text begins with two byte-order marks", file));
  }
}

bool CsvCursor::find_row() {
  for (;;) {
    const char* const start = at_;
    skip_blanks();
    if (at_ == end_) return false;
    if (!at_row_end()) {
      at_ = start;
      return true;
    }
    next_line();
  }
}

void CsvCursor::next_line() {
  if (at_ != end_ && *at_ == '\r') ++at_;
  if (at_ == end_) return;
  ++at_;
  ++line_;
}

CsvCell CsvCursor::take_cell(std::int64_t column) {
  skip_blanks();
  if (at_ != end_ && *at_ == '"') return take_quoted_cell(column);
  const char* const start = at_;
  for (; !at_cell_end(); ++at_) check_byte(column);
  const char* stop = at_;
  while (stop != start && is_blank(stop[-1])) --stop;
  return {std::string_view(start, static_cast<std::size_t>(stop - start)), false};
}

CsvCell CsvCursor::take_quoted_cell(std::int64_t column) {
  const char* const start = ++at_;
  const std::int64_t first_line = line_;
  for (;; ++at_) {
    if (at_ == end_) {
      throw UnclosedQuoteError(
          with_place(first_line, column, "the quoted cell has no closing quote"));
    }
    if (at_row_end()) {
      if (*at_ == '\r') ++at_;
      if (at_ != end_) ++line_;
      if (at_ == end_) --at_;
      continue;
    }
    check_byte(column);
    if (*at_ != '"') continue;
    if (at_ + 1 == end_ || at_[1] != '"') break;
    ++at_;
  }
  const std::string_view text(start, static_cast<std::size_t>(at_ - start));
  ++at_;
  skip_blanks();
  if (!at_cell_end()) fail_after_quote(column, first_line);
  return {text, true, line_ > first_line};
}

void CsvCursor::refuse_line_break(const CsvCell& cell, std::int64_t column) const {
  if (!cell.has_line_break) return;
  const auto breaks = std::count(cell.text.begin(), cell.text.end(), '\n');
  fail_for_option_at(line_ - breaks, column,
                     "the quoted cell has a line break, which is allowed only in columns that are "
                     "left out (the columns option or the drop_columns option)");
}

// The text after a quoted cell often begins with the delimiter that the file really has.
void CsvCursor::fail_after_quote(std::int64_t column, std::int64_t first_line) const {
  std::string message = "text follows the closing quote";
  if (first_line < line_) {
    message += fmt::format(" of the cell that begins in line {}", first_line);
  }
  if (*at_ == ',' && notation_.decimal_comma) {
    fail_for_option(column, message + "; if ',' separates the cells, set delimiter = \",\"");
  }
  if (*at_ == ';' && !notation_.decimal_comma) {
    fail_for_option(column, message +
                                "; if ';' separates the cells, set the delimiter option, or the "
                                "decimal_comma option for cells such as 2,5");
  }
  if (*at_ == ',' || *at_ == ';' || *at_ == '|') {
    fail_for_option(column, fmt::format("{}; if '{}' separates the cells, set the delimiter option",
                                        message, *at_));
  }
  if (is_blank(at_[-1])) {
    fail_for_option(column, fmt::format("{}; if {} separate the cells, set the delimiter option",
                                        message, at_[-1] == '\t' ? "tabs" : "blanks"));
  }
  fail(column, message);
}

void CsvCursor::check_byte(std::int64_t column) const {
  if (*at_ == '\r') {
    fail(column,
         "there is a carriage return inside the cell; lines end with LF or CRLF: if they end with "
         "CR, tr '\\r' '\\n' converts them");
  }
  if (*at_ == '\0') fail(column, "the cell holds a NUL byte, so this is not UTF-8 text");
}

// The text as in the file if the cell is a number with a point where decimals have commas;
// otherwise empty. rewrite_numbers() replaced its point.
std::string CsvCursor::with_decimal_point(std::string_view text) const {
  std::string pointed(text);
  const std::size_t mark = pointed.find(notation_.refused_point());
  if (!notation_.has_decimal_comma() || mark == std::string::npos) return {};
  pointed[mark] = '.';
  return is_number(pointed) ? pointed : std::string();
}

void CsvCursor::refuse_point(std::string_view text, std::int64_t column) const {
  const std::string pointed = with_decimal_point(text);
  if (pointed.empty()) return;
  if (notation_.thousands == '.') {
    fail_for_option(column, fmt::format("'{}' has a point, but no group of three digits behind it, "
                                        "as the thousands option requires",
                                        pointed));
  }
  const std::string problem =
      fmt::format("'{}' has a point, but decimals have commas here", pointed);
  if (const auto groups = find_groups(pointed); groups && !notation_.thousands) {
    fail_for_option(
        column, fmt::format("{}; thousands = \".\" reads it as {}", problem, ungrouped(pointed)));
  }
  fail_for_option(column, problem + "; write thousands without separators: 12500,5");
}

template <class T>
T CsvCursor::convert(std::string_view text, std::int64_t column) {
  T value = 0;
  std::errc error = parse(text, value);
  if (error == std::errc::result_out_of_range) {
    // Numbers that are too small become zero; only those that are too large are errors.
    std::conditional_t<std::is_same_v<T, float>, double, long double> wide = 0;
    error = parse(text, wide);
    if (error == std::errc::result_out_of_range && is_below_one(text)) {
      wide = 0;
      error = std::errc{};
    }
    if (error == std::errc{} && std::fabs(wide) > 1) error = std::errc::result_out_of_range;
    if (error == std::errc{}) value = static_cast<T>(wide);
    if (error == std::errc{} && value == 0) rounded_to_zero_ = true;
  }
  if (error == std::errc{} && std::isfinite(value)) return value;
  if (text.empty() && delimiter_ == ' ') {
    fail(column,
         "the cell is empty, since each blank separates two cells; leave one blank between cells "
         "and none at the ends of lines");
  }
  if (text.empty()) {
    throw NumberNeededError(with_place(line_, column, "the cell is empty; a number is needed"),
                            column, NumberNeededError::Cell::empty);
  }
  if (error == std::errc{}) {
    const std::string message = fmt::format("'{}' is not finite; all values must be", shown(text));
    if (std::isnan(value)) {
      fail_for_option(column, message + "; the drop_missing option leaves such rows out");
    }
    throw NumberNeededError(with_place(line_, column, message), column,
                            NumberNeededError::Cell::infinite);
  }
  if (error == std::errc::result_out_of_range) {
    fail(column, fmt::format("'{}' is beyond the range of {}", shown(text),
                             std::is_same_v<T, float> ? "float32" : "float64"));
  }
  if (column == 0 && text.starts_with('#') && !is_missing_value(text)) {
    fail(column,
         fmt::format("'{}' is not a number; lines that begin with '#' are rows too: grep -v '^#' "
                     "removes them",
                     shown(text)));
  }
  refuse_point(text, column);
  const NumberAdvice advice = number_advice(text, notation_);
  const std::string message = fmt::format("'{}' is not a number{}", shown(text), advice.text);
  if (advice.text.empty() || advice.may_be_text) {
    throw NumberNeededError(with_place(line_, column, message), column,
                            advice.may_be_text ? NumberNeededError::Cell::date_or_quantity
                                               : NumberNeededError::Cell::name);
  }
  if (advice.names_option) fail_for_option(column, message);
  fail(column, message);
}

template float CsvCursor::convert<float>(std::string_view, std::int64_t);
template double CsvCursor::convert<double>(std::string_view, std::int64_t);

std::string CsvCursor::with_place(std::int64_t line, std::int64_t column,
                                  std::string_view message) const {
  return fmt::format("{}, line {}, column {}: {}", file_, line, column + 1, message);
}

void CsvCursor::fail_at(std::int64_t line, std::int64_t column, std::string_view message) const {
  throw InputError(with_place(line, column, message));
}

void CsvCursor::fail_for_option_at(std::int64_t line, std::int64_t column,
                                   std::string_view message) const {
  throw InputOptionError(with_place(line, column, message));
}

}  // namespace lloyd
