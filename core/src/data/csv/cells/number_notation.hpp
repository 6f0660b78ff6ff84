// NumberNotation: decimal commas and thousands separators in the numbers of a text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lloyd {

/// How a text writes its numbers, besides the notation of std::from_chars.
struct NumberNotation {
  char delimiter = ',';           ///< between cells
  bool decimal_comma = false;     ///< 2,5 is 2.5; 1.234,5 is 1234.5
  std::optional<char> thousands;  ///< one of kThousandsSeparators: 1,234 is 1234

  /// True if numbers have to be rewritten.
  bool differs() const { return decimal_comma || thousands; }
  /// True if a point is no decimal mark.
  bool has_decimal_comma() const { return decimal_comma || thousands == '.'; }
  /// Replaces a point that is no thousands separator, so that its cell is refused.
  char refused_point() const { return delimiter == ',' ? '\'' : ','; }
};

/// In a text, U+2019 stands for the apostrophe, no-break and thin blanks for the blank; also as the
/// bytes of Windows-1252.
inline constexpr std::string_view kThousandsSeparators = ".,' _";

/// The thousands separator of a number with groups of three digits, such as 1,234.5 or 1.234,5, and
/// the number without it.
struct GroupedNumber {
  char separator = 0;
  bool has_decimals = false;
  std::string_view decimals{};  ///< from the decimal mark on
};

/// Finds the separator of a grouped number; none for another text. A number with a single
/// separator, such as 1.234, counts, too.
std::optional<GroupedNumber> find_groups(std::string_view text);

/// A grouped number without its separators, and with a decimal point.
std::string ungrouped(std::string_view text);

/// Rewrites the numbers of complete lines in the notation of std::from_chars, in place: blanks fill
/// up in front of a cell, and replace quotes that only a delimiter in the number required. Blanks
/// inside quotes are no part of a number. With
/// decimal commas, refused_point() replaces the points of numbers that are not grouped, so that
/// they are not read. Other cells stay as they are, such as numbers whose groups do not have three
/// digits.
void rewrite_numbers(char* begin, char* end, const NumberNotation& notation);

}  // namespace lloyd
