#include "data/csv/cells/csv_cell_kind.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "data/csv/cells/csv_cursor.hpp"
#include "data/csv/cells/named_date.hpp"

namespace lloyd {
namespace {

bool is_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}

char small_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_ascii_letter(char c) {
  return small_letter(c) >= 'a' && small_letter(c) <= 'z';
}

// Markers of missing values in R, NumPy, pandas, SQL, spreadsheets and Weka, in lower case.
constexpr std::array<std::string_view, 27> kMissing = {
    "",     "na",  "n/a",     "#n/a",  "#na",     "<na>",  "n.a.",   "nat",     "null",
    "none", "nil", "missing", "?",     "-",       "--",    "---",    ".",       "..",
    "*",    "\\n", "#null!",  "#num!", "#value!", "#ref!", "#name?", "#div/0!", "(null)"};

// A quick test: a text that begins with a letter other than i, m and n is neither a number nor a
// marker of a missing value.
bool begins_like_word(std::string_view text) {
  return !text.empty() && is_ascii_letter(text.front()) &&
         std::string_view("imnIMN").find(text.front()) == std::string_view::npos;
}

bool is_marker(std::string_view text) {
  return std::any_of(kMissing.begin(), kMissing.end(), [=](std::string_view mark) {
    return text.size() == mark.size() &&
           std::equal(text.begin(), text.end(), mark.begin(),
                      [](char a, char b) { return small_letter(a) == b; });
  });
}

struct Sign {
  std::string_view utf8;
  char plain;  // the ASCII equivalent: a digit or minus; 0: a sign around a number
};

// Non-ASCII characters in numbers.
constexpr std::array<Sign, 19> kSigns = {{{"\u2212", '-'},
                                          {"\u2010", '-'},
                                          {"\u2011", '-'},
                                          {"\u2012", '-'},
                                          {"\u2013", '-'},
                                          {"\u2014", '-'},
                                          {"\ufe63", '-'},
                                          {"\uff0d", '-'},
                                          {"\u00a0", ' '},
                                          {"\u2009", ' '},
                                          {"\u202f", ' '},
                                          {"\u2019", '\''},
                                          {"\u20ac", 0},
                                          {"\u00a3", 0},
                                          {"\u00a5", 0},
                                          {"\u20b9", 0},
                                          {"\u00b0", 0},
                                          {"\xa0", ' '},  // Windows-1252
                                          {"\x92", '\''}}};

// The number of bytes of the UTF-8 character at the beginning; 1 if it is not UTF-8.
std::size_t bytes_of_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t bytes = byte(0) < 0xc2 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (bytes > text.size()) return 1;
  for (std::size_t i = 1; i < bytes; ++i) {
    if (byte(i) < 0x80 || byte(i) >= 0xc0) return 1;
  }
  return bytes;
}

// The zeros of other scripts; their nine other digits follow each of them.
constexpr std::array<std::string_view, 4> kZeros = {"\u0660", "\u06f0", "\u0966", "\uff10"};

// Replaces non-ASCII signs and digits by ASCII ones, and currency and unit signs by '$'.
std::string to_ascii(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto sign = std::find_if(kSigns.begin(), kSigns.end(),
                                   [&](const Sign& each) { return text.starts_with(each.utf8); });
    const auto zero = std::find_if(kZeros.begin(), kZeros.end(), [&](std::string_view each) {
      const std::size_t last = each.size() - 1;
      return text.size() > last && text.starts_with(each.substr(0, last)) &&
             text[last] >= each[last] && text[last] - each[last] < 10;
    });
    if (sign != kSigns.end()) {
      result += sign->plain == 0 ? '$' : sign->plain;
      text.remove_prefix(sign->utf8.size());
    } else if (zero != kZeros.end()) {
      result += static_cast<char>('0' + (text[zero->size() - 1] - zero->back()));
      text.remove_prefix(zero->size());
    } else {
      const std::size_t bytes = bytes_of_character(text);
      result += text.substr(0, bytes);
      text.remove_prefix(bytes);
    }
  }
  return result;
}

bool is_hexadecimal(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.size() < 3 || text[0] != '0' || small_letter(text[1]) != 'x') return false;
  return std::all_of(text.begin() + 2, text.end(), [](char c) {
    return is_ascii_digit(c) || (small_letter(c) >= 'a' && small_letter(c) <= 'f') ||
           small_letter(c) == 'p' || c == '.' || c == '+' || c == '-';
  });
}

// True if the letter at `i` separates a number from its exponent.
bool is_exponent(std::string_view text, std::size_t i) {
  const char c = small_letter(text[i]);
  return (c == 'e' || c == 'd') && i > 0 && i + 1 < text.size() &&
         (is_ascii_digit(text[i - 1]) || text[i - 1] == '.' || text[i - 1] == ',') &&
         (is_ascii_digit(text[i + 1]) || text[i + 1] == '-' || text[i + 1] == '+');
}

bool has_name_letter(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool beyond_ascii = static_cast<unsigned char>(text[i]) >= 0x80;
    if (beyond_ascii || (is_ascii_letter(text[i]) && !is_exponent(text, i))) return true;
  }
  return false;
}

// True if one of the characters `signs` follows a digit.
bool has_digit_before(std::string_view text, std::string_view signs) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (is_ascii_digit(text[i - 1]) && signs.find(text[i]) != std::string_view::npos) return true;
  }
  return false;
}

bool begins_like_number(std::string_view text) {
  const std::size_t first = text.find_first_not_of("+-$'(=\"#. ");
  return first != std::string_view::npos && is_ascii_digit(text[first]);
}

// True if there are at least two parts between separators and all of them are numbers, which may
// have thousands separators, and a comma as decimal mark if `decimal_comma`.
bool is_list(std::string_view text, char separator, bool decimal_comma = false) {
  std::size_t parts = 1;
  for (;; ++parts) {
    const std::size_t end = text.find(separator);
    std::string_view part = text.substr(0, end);
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    part.remove_suffix(part.size() - std::min(part.find_last_not_of(' ') + 1, part.size()));
    std::string number(part);
    const std::size_t comma = number.find(',');
    if (decimal_comma && comma != std::string::npos) number[comma] = '.';
    if (!is_number(number) && (separator == ' ' || !find_groups(number))) return false;
    if (end == std::string_view::npos) return parts > 1;
    text.remove_prefix(end + 1);
  }
}

// True if the text begins with a number and a separator: "5.1|3.5|setosa".
bool begins_list(std::string_view text, char separator) {
  std::string_view first = text.substr(0, text.find(separator));
  first = first.substr(0, first.find_last_not_of(' ') + 1);
  return first.size() < text.size() && is_number(first);
}

std::string without_repeated_blanks(std::string text) {
  const auto end =
      std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; });
  text.erase(end, text.end());
  return text;
}

}  // namespace

bool needs_quotes(std::string_view text) {
  return kind_of_cell(text) != CellKind::name ||
         text.find_first_of(",\" \t") != std::string_view::npos || text.find_first_of("<{[") == 0 ||
         static_cast<unsigned char>(text.front()) >= 0xef;
}

CellKind kind_of_cell(std::string_view text) {
  if (begins_like_word(text)) return is_named_date(text) ? CellKind::quantity : CellKind::name;
  if (is_missing_value(text)) return CellKind::missing;
  if (is_number(text)) return CellKind::number;
  if (text == "\u221e" || text == "-\u221e") return CellKind::almost_number;
  const std::string ascii = to_ascii(text);
  if (is_hexadecimal(ascii)) return CellKind::almost_number;
  if (std::none_of(ascii.begin(), ascii.end(), is_ascii_digit)) return CellKind::name;
  if (!has_name_letter(ascii)) return CellKind::almost_number;
  return begins_like_number(ascii) || is_named_date(ascii) ? CellKind::quantity : CellKind::name;
}

bool is_missing_value(std::string_view text) {
  if (begins_like_word(text)) return false;
  if (is_marker(text)) return true;
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && stop == text.data() + text.size() && std::isnan(value);
}

namespace {

// The value of a text that is a number as in a CSV file; none for another text.
std::optional<double> number_of(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

MissingValues::MissingValues(const std::vector<std::string>& texts) : texts_(texts) {
  for (const std::string& text : texts) {
    if (const std::optional<double> value = number_of(text)) numbers_.push_back(*value);
  }
}

bool MissingValues::has_text(std::string_view cell) const {
  if (std::find(texts_.begin(), texts_.end(), cell) != texts_.end()) return true;
  if (numbers_.empty()) return false;
  const std::optional<double> value = number_of(cell);
  return value && std::find(numbers_.begin(), numbers_.end(), *value) != numbers_.end();
}

void MissingValues::note_use(std::string_view cell, std::vector<bool>& used) const {
  const std::optional<double> value = number_of(cell);
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if (!used[i]) used[i] = texts_[i] == cell || (value && number_of(texts_[i]) == value);
  }
}

namespace {

// True for a quarter, half or week of a year: 2023-Q1, 2023Q1, 2023-H2, 2023-W05.
bool is_part_of_year(std::string_view text) {
  constexpr std::size_t kYear = 4;
  constexpr std::string_view kDigits = "0123456789";
  if (text.find_first_not_of(kDigits) != kYear) return false;
  text.remove_prefix(kYear);
  if (text.front() == '-' || text.front() == ' ' || text.front() == '/') text.remove_prefix(1);
  if (text.empty() || std::string_view("QqHhWw").find(text.front()) == std::string_view::npos) {
    return false;
  }
  text.remove_prefix(1);
  return !text.empty() && text.size() <= 2 &&
         text.find_first_not_of(kDigits) == std::string_view::npos;
}

// True for the beginning of a date or time with letters: 2024-01-31T12:00Z, 12:30 PM, 31-Jan-2024.
bool begins_like_time(std::string_view text) {
  const auto has_digits = [&](std::size_t at, std::size_t count) {
    if (at + count > text.size()) return false;
    return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at),
                       text.begin() + static_cast<std::ptrdiff_t>(at + count), is_ascii_digit);
  };
  if (has_digits(0, 4) && text.substr(4, 1) == "-" && has_digits(5, 2)) return true;
  const std::size_t first = std::min(text.find_first_not_of("0123456789"), text.size());
  if (first == 0 || first > 2 || first == text.size()) return false;
  if (text[first] == ':' || text[first] == '/') return has_digits(first + 1, 1);
  return text[first] == '-' && text.size() > first + 5 && is_ascii_letter(text[first + 1]) &&
         text[first + 4] == '-' && has_digits(first + 5, 1);
}

// True for a date such as 31.1.2024 or 31.01.24.
bool is_dotted_date(std::string_view text) {
  const auto take_number = [&](std::size_t most) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    int number = -1;
    if (end >= 1 && end <= most) std::from_chars(text.data(), text.data() + end, number);
    text.remove_prefix(end);
    return number;
  };
  const auto take_point = [&] {
    const bool has_point = text.starts_with('.');
    if (has_point) text.remove_prefix(1);
    return has_point;
  };
  const int day = take_number(2);
  if (day < 1 || day > 31 || !take_point()) return false;
  const int month = take_number(2);
  if (month < 1 || month > 12 || !take_point()) return false;
  const std::size_t year_digits = text.size();
  return take_number(4) >= 0 && text.empty() && (year_digits == 2 || year_digits == 4);
}

// "; a trailing minus ..." for a number such as 12,50-; empty for other texts.
std::string advice_on_trailing_minus(const std::string& ascii) {
  if (ascii.size() < 2 || !ascii.ends_with('-')) return {};
  const std::string number = ascii.substr(0, ascii.size() - 1);
  std::string decimal = number;
  const std::size_t comma = decimal.find(',');
  if (comma != std::string::npos) decimal[comma] = '.';
  if (!is_ascii_digit(number.front()) || (!is_number(decimal) && !find_groups(number))) return {};
  return fmt::format("; a minus behind a number is not read: write -{}", number);
}

// The settings that read decimal commas.
std::string decimal_comma_setting(const NumberNotation& notation) {
  return notation.delimiter == ',' ? "the decimal_comma option with delimiter = \",\""
                                   : "the decimal_comma option";
}

// Advice on a number with thousands separators; empty for other texts.
std::string advice_on_groups(const std::string& ascii, const NumberNotation& notation) {
  const std::optional<GroupedNumber> groups = find_groups(ascii);
  if (!groups) return {};
  const char separator = groups->separator;
  const char mark = groups->has_decimals ? groups->decimals.front() : '\0';
  const std::string value = ungrouped(ascii);
  if (mark == '.' && notation.has_decimal_comma()) {
    return "; it has a decimal point, but decimals have commas here";
  }
  if (separator == ',' && notation.decimal_comma) {
    return "; write thousands without separators: 1000,5";
  }
  const std::string thousands = fmt::format("thousands = \"{}\"", separator);
  if (mark == ',') {
    const std::string comma = decimal_comma_setting(notation);
    return separator == '.' || notation.thousands == separator
               ? fmt::format("; {} reads it as {}", comma, value)
               : fmt::format("; {} and {} read it as {}", thousands, comma, value);
  }
  std::string advice = fmt::format("; {} reads it as {}", thousands, value);
  if (separator == ',' && std::count(ascii.begin(), ascii.end(), ',') == 1 && mark == '\0') {
    std::string decimal = ascii;
    decimal[decimal.find(',')] = '.';
    advice += fmt::format(", {} as {}", decimal_comma_setting(notation), decimal);
  }
  if (separator == ' ') advice += "; if blanks separate the cells, set the delimiter option";
  return advice;
}

// Advice on a number with a percent sign or a currency or unit symbol; empty for other texts.
std::string advice_on_symbols(std::string_view text, const std::string& ascii) {
  if (ascii.find_first_of("%$") == std::string::npos) return {};
  constexpr std::string_view kAdvice = "; leave out units, percent signs and currency symbols";
  if (text.find('%') != std::string_view::npos) return fmt::format("{}: sed 's/%//g'", kAdvice);
  if (text.find('$') != std::string_view::npos) return fmt::format("{}: sed 's/[$]//g'", kAdvice);
  for (const Sign& sign : kSigns) {
    if (sign.plain != 0 || text.find(sign.utf8) == std::string_view::npos) continue;
    return fmt::format("{}: sed 's/{}//g'", kAdvice, sign.utf8);
  }
  return std::string(kAdvice);
}

// Advice on a number with a footnote mark, in apostrophes, or as the formula ="2.53", with which
// spreadsheets keep texts; empty for other texts.
std::string advice_on_marks(const std::string& ascii) {
  if (const std::size_t stars = ascii.find('*');
      stars != std::string::npos && ascii.find_first_not_of('*', stars) == std::string::npos) {
    return is_number(ascii.substr(0, stars))
               ? "; footnote marks belong elsewhere: sed 's/[*]//g' removes them"
               : "";
  }
  if (ascii.size() > 3 && ascii.starts_with("=\"") && ascii.ends_with('"') &&
      is_number(ascii.substr(2, ascii.size() - 3))) {
    return R"--(; write the number itself: sed 's/="\([^"]*\)"/\1/g')--";
  }
  if (ascii.size() > 2 && ascii.front() == '\'' && ascii.back() == '\'' &&
      is_number(ascii.substr(1, ascii.size() - 2))) {
    return R"(; remove the apostrophes: sed "s/'//g")";
  }
  return {};
}

std::string minus_advice(const Sign& minus) {
  return fmt::format("; the minus must be the hyphen of ASCII: sed 's/{}/-/g'", minus.utf8);
}

// Advice on a text that would be a number if its first character were a hyphen; empty for others.
std::string advice_on_minus(std::string_view text, const NumberNotation& notation) {
  const auto minus = std::find_if(kSigns.begin(), kSigns.end(), [&](const Sign& sign) {
    return sign.plain == '-' && text.starts_with(sign.utf8);
  });
  if (minus == kSigns.end()) return {};
  std::string number = fmt::format("-{}", text.substr(minus->utf8.size()));
  if (notation.differs()) {
    const bool needs_quotes = number.find(notation.delimiter) != std::string::npos;
    std::string line = fmt::format("{0}{1}{0}\n", needs_quotes ? "\"" : "", number);
    rewrite_numbers(line.data(), line.data() + line.size(), notation);
    line.pop_back();
    number = trimmed(line);
  }
  return is_number(number) ? minus_advice(*minus) : std::string();
}

// Advice on a number with a minus or digits that are not ASCII.
std::string advice_on_encoding(std::string_view text) {
  for (const Sign& sign : kSigns) {
    if (sign.plain != '-' || text.find(sign.utf8) == std::string_view::npos) continue;
    return minus_advice(sign);
  }
  return "; use ASCII digits and signs";
}

// Advice on numbers that other characters separate, which may be the delimiter; empty for other
// texts.
std::string advice_on_delimiter(const std::string& ascii, bool decimal_comma) {
  if (decimal_comma && is_list(ascii, ';', true)) {
    return "; if ';' separates the cells, set the delimiter option";
  }
  if (is_list(ascii, ';')) {
    return "; if ';' separates the cells, set the delimiter option, or the decimal_comma option "
           "for cells such as 2,5";
  }
  if (is_list(ascii, '|', decimal_comma)) {
    return "; if '|' separates the cells, set the delimiter option";
  }
  if (is_list(ascii, '\t', decimal_comma)) {
    return "; if tabs separate the cells, set the delimiter option";
  }
  if (decimal_comma && is_list(ascii, ' ', true)) {
    return "; write thousands without separators, or set the delimiter option if blanks separate "
           "the cells";
  }
  if (decimal_comma && is_list(ascii, ',') && std::count(ascii.begin(), ascii.end(), '.') > 1) {
    return "; if ',' separates the cells, leave the decimal_comma option out";
  }
  return {};
}

// Advice on a number with a comma as decimal mark.
std::string advice_on_comma(const std::string& ascii, const NumberNotation& notation) {
  if (notation.has_decimal_comma()) return "; write thousands without separators: 1000,5";
  std::string decimal = ascii;
  decimal[decimal.find(',')] = '.';
  if (is_number(decimal)) {
    return fmt::format("; {} reads it as {}", decimal_comma_setting(notation), decimal);
  }
  return "; write decimals with a point and thousands without separators: 1000.5";
}

}  // namespace

std::string delimiter_advice(std::string_view text, const NumberNotation& notation) {
  return kind_of_cell(text) == CellKind::almost_number
             ? advice_on_delimiter(to_ascii(text), notation.decimal_comma)
             : std::string();
}

bool is_sparse_row(std::string_view line) {
  std::int64_t pairs = 0;
  for (bool is_label = true; !line.empty(); is_label = false) {
    const std::string_view part = line.substr(0, line.find(' '));
    const std::size_t colon = part.find(':');
    if (is_label ? !is_number(part)
                 : colon == std::string_view::npos || colon == 0 ||
                       part.find_first_not_of("0123456789") != colon ||
                       !is_number(part.substr(colon + 1))) {
      return false;
    }
    pairs += is_label ? 0 : 1;
    line.remove_prefix(part.size());
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  }
  return pairs > 0;
}

NumberAdvice number_advice(std::string_view text, const NumberNotation& notation) {
  constexpr const char* kTimeAdvice = "; convert dates, times and ranges to numbers";
  switch (kind_of_cell(text)) {
    case CellKind::missing:
      return {"; a missing value must be filled in, or its row left out (the drop_missing option)",
              true};
    case CellKind::number:
    case CellKind::name:
      return {};
    case CellKind::quantity:
      if (begins_list(text, '|')) {
        return {"; if '|' separates the cells, set the delimiter option", true};
      }
      if (begins_list(text, ';')) {
        return {"; if ';' separates the cells, set the delimiter option", true};
      }
      if (begins_like_time(text) || is_named_date(text) || is_day_and_month(text) ||
          is_part_of_year(text)) {
        return {kTimeAdvice, false, true};
      }
      return {"; units belong in the header", false, true};
    case CellKind::almost_number:
      break;
  }
  if (std::string advice = advice_on_minus(text, notation); !advice.empty()) return {advice};
  const std::string ascii = to_ascii(text);
  if (is_hexadecimal(ascii)) return {"; numbers are decimal"};
  if (is_dotted_date(ascii)) return {kTimeAdvice, false, true};
  if (std::string advice = advice_on_trailing_minus(ascii); !advice.empty()) return {advice};
  if (std::string advice = advice_on_groups(ascii, notation); !advice.empty()) {
    return {std::move(advice), true};
  }
  if (std::string advice = advice_on_delimiter(ascii, notation.decimal_comma); !advice.empty()) {
    return {std::move(advice), true};
  }
  if (std::string advice = advice_on_symbols(text, ascii); !advice.empty()) {
    return {std::move(advice)};
  }
  if (std::string advice = advice_on_marks(ascii); !advice.empty()) return {std::move(advice)};
  if (ascii.find(',') != std::string::npos) return {advice_on_comma(ascii, notation), true};
  if (ascii.size() > 2 && ascii.front() == '(' && ascii.back() == ')') {
    const std::string inside = ascii.substr(1, ascii.size() - 2);
    if (is_number(inside)) return {fmt::format("; if it is negative, write -{}", inside)};
  }
  if (has_digit_before(ascii, ":/-")) return {kTimeAdvice, false, true};
  if (is_list(ascii, ' '))
    return {"; if blanks separate the cells, set the delimiter option", true};
  if (is_list(without_repeated_blanks(ascii), ' ')) {
    return {
        "; if blanks separate the cells, write one comma in place of each group of blanks: sed "
        "-E 's/^ +//; s/ +/,/g'"};
  }
  if (ascii.find_first_of("_' ") != std::string::npos) {
    return {"; write thousands without separators: 1000.5"};
  }
  if (ascii != text) return {advice_on_encoding(text)};
  return {};
}

}  // namespace lloyd
