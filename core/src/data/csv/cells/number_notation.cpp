#include "data/csv/cells/number_notation.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace lloyd {
namespace {

// Skips the digits from `at` on.
char* skip_digits(char* at, const char* end) {
  while (at != end && *at >= '0' && *at <= '9') ++at;
  return at;
}

char* skip_sign(char* at, const char* end) {
  return at != end && (*at == '+' || *at == '-') ? at + 1 : at;
}

// The comma or point of [begin, end) if that is a number with one; otherwise null.
char* find_decimal_mark(char* begin, const char* end) {
  begin = skip_sign(begin, end);
  char* const mark = skip_digits(begin, end);
  if (mark == end || (*mark != ',' && *mark != '.')) return nullptr;
  char* at = skip_digits(mark + 1, end);
  if (mark - begin + (at - mark) - 1 == 0) return nullptr;  // no digit
  if (at != end && (*at == 'e' || *at == 'E')) {
    char* const exponent = skip_sign(at + 1, end);
    at = skip_digits(exponent, end);
    if (at == exponent) return nullptr;
  }
  return at == end ? mark : nullptr;
}

bool is_cell_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// The delimiter or line feed behind the cell at `begin`, or `end`. A quoted cell may hold both a
// delimiter and doubled quotes, and ends on its line.
char* find_cell_end(char* begin, char* end, char delimiter) {
  char* at = begin;
  while (at != end && is_cell_blank(*at) && *at != delimiter) ++at;
  if (at != end && *at == '"') {
    for (++at; at != end && *at != '\n'; ++at) {
      if (*at != '"') continue;
      if (at + 1 == end || at[1] != '"') break;
      ++at;
    }
  }
  return std::find_if(at, end, [&](char c) { return c == delimiter || c == '\n'; });
}

constexpr std::size_t kGroup = 3;

std::size_t count_digits(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789");
  return std::min(end, text.size());
}

// The separator at the beginning of the text and its length in bytes; 0 if there is none.
std::pair<char, std::size_t> separator_at(std::string_view text) {
  // The last two are those of Windows-1252: behind a digit, they are no part of a UTF-8 sequence.
  constexpr std::array<std::pair<std::string_view, char>, 6> kOthers = {{{"\u2019", '\''},
                                                                         {"\u00a0", ' '},
                                                                         {"\u2009", ' '},
                                                                         {"\u202f", ' '},
                                                                         {"\xa0", ' '},
                                                                         {"\x92", '\''}}};
  if (text.empty()) return {0, 0};
  if (kThousandsSeparators.find(text.front()) != std::string_view::npos) return {text.front(), 1};
  for (const auto& [utf8, separator] : kOthers) {
    if (text.starts_with(utf8)) return {separator, utf8.size()};
  }
  return {0, 0};
}

// A blank that does not separate cells.
char filler_of(const NumberNotation& notation) {
  return notation.delimiter == ' ' ? '\t' : ' ';
}

// Writes the digits of the grouped number [first, last) without separators, so that they end at
// `last`. Blanks fill up in front, before the opening quote if that is in front of `first`.
void remove_separators(char* first, char* last, const NumberNotation& notation, bool is_quoted) {
  char* to = last;
  const char mark = notation.has_decimal_comma() ? ',' : '.';
  char* from = last;
  // Decimals have no separators: they are copied up to the mark, which becomes a point.
  char* const decimals = std::find(first, last, mark);
  if (decimals != last) *decimals = '.';
  while (from != first) {
    const char c = *--from;
    const bool is_kept = from >= decimals || (c >= '0' && c <= '9') || c == '+' || c == '-';
    if (is_kept) *--to = c;
  }
  if (is_quoted) *--to = '"';
  std::fill(is_quoted ? first - 1 : first, to, filler_of(notation));
}

bool has_grouped_number(std::string_view text, const NumberNotation& notation) {
  const std::optional<GroupedNumber> groups = find_groups(text);
  if (!groups) return false;
  const char mark = notation.has_decimal_comma() ? ',' : '.';
  if (groups->has_decimals && groups->decimals.front() != mark) return false;
  if (notation.thousands) return groups->separator == *notation.thousands;
  return groups->separator == '.' && groups->has_decimals;  // unambiguous: 1.234,5
}

}  // namespace

std::optional<GroupedNumber> find_groups(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  const std::size_t first = count_digits(text);
  if (first == 0 || first > kGroup || text.front() == '0') return std::nullopt;
  text.remove_prefix(first);
  GroupedNumber number;
  while (!text.empty()) {
    const auto [separator, bytes] = separator_at(text);
    const bool is_group = bytes > 0 && count_digits(text.substr(bytes)) == kGroup &&
                          (number.separator == 0 || separator == number.separator);
    if (!is_group) break;
    number.separator = separator;
    text.remove_prefix(bytes + kGroup);
  }
  if (number.separator == 0) return std::nullopt;
  if (text.empty()) return number;
  const char mark = text.front();
  if ((mark != '.' && mark != ',') || mark == number.separator) return std::nullopt;
  if (count_digits(text.substr(1)) + 1 != text.size()) return std::nullopt;
  number.has_decimals = true;
  number.decimals = text;
  return number;
}

std::string ungrouped(std::string_view text) {
  const std::optional<GroupedNumber> groups = find_groups(text);
  if (!groups) return std::string(text);
  std::string number;
  for (const char c : text.substr(0, text.size() - groups->decimals.size())) {
    if ((c >= '0' && c <= '9') || c == '-') number += c;
  }
  if (groups->has_decimals) number.append(".").append(groups->decimals.substr(1));
  return number;
}

void rewrite_numbers(char* begin, char* end, const NumberNotation& notation) {
  while (begin != end) {
    char* const stop = find_cell_end(begin, end, notation.delimiter);
    char* first = begin;
    char* last = stop;
    while (first != last && is_cell_blank(*first)) ++first;
    while (first != last && is_cell_blank(last[-1])) --last;
    bool is_quoted = last - first >= 2 && *first == '"' && last[-1] == '"';
    char* const open = first;  // of the quoted cell [open, close)
    char* const close = last;
    if (is_quoted) {
      ++first;
      --last;
      while (first != last && is_cell_blank(*first)) ++first;
      while (first != last && is_cell_blank(last[-1])) --last;
    }
    const bool is_grouped =
        has_grouped_number({first, static_cast<std::size_t>(last - first)}, notation);
    char* const mark =
        notation.has_decimal_comma() && !is_grouped ? find_decimal_mark(first, last) : nullptr;
    if (is_quoted && (is_grouped || mark != nullptr) &&
        std::find(first, last, notation.delimiter) != last) {
      // The number needed its quotes, which would otherwise make it a text: see is_declared_text().
      std::fill(open, first, filler_of(notation));
      std::fill(last, close, filler_of(notation));
      is_quoted = false;
    }
    if (is_grouped) {
      remove_separators(first, last, notation, is_quoted && first == open + 1);
    } else if (mark != nullptr) {
      *mark = *mark == ',' ? '.' : notation.refused_point();
    }
    begin = stop == end ? end : stop + 1;
  }
}

}  // namespace lloyd
