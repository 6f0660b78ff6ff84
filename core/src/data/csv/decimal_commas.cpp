#include "data/csv/decimal_commas.hpp"

#include <algorithm>

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

}  // namespace

void replace_decimal_commas(char* begin, char* end, char delimiter) {
  while (begin != end) {
    char* const stop = find_cell_end(begin, end, delimiter);
    char* first = begin;
    char* last = stop;
    while (first != last && is_cell_blank(*first)) ++first;
    while (first != last && is_cell_blank(last[-1])) --last;
    if (last - first >= 2 && *first == '"' && last[-1] == '"') {
      ++first;
      --last;
    }
    if (char* const mark = find_decimal_mark(first, last)) *mark = *mark == ',' ? '.' : ',';
    begin = stop == end ? end : stop + 1;
  }
}

}  // namespace lloyd
