// CellKind: classifies the text of a cell as a number, nearly a number, a missing value or a name.
#pragma once

#include <string_view>

namespace lloyd {

enum class CellKind {
  number,         ///< finite or infinite
  missing,        ///< empty, NaN, or a marker of a missing value: NA, ?, -, null
  almost_number,  ///< digits and signs, but no number: 1,000 2,5 12% $3 0x1F 2024-01-31
  quantity,       ///< a number followed by letters: 12kg, 1st
  name,           ///< everything else
};

/// The kind of a cell whose surrounding blanks and quotes were removed.
CellKind kind_of_cell(std::string_view text);

/// True for a marker of a missing value and for NaN.
bool is_missing_value(std::string_view text);

/// True if Lloyd writes the text in quotes: it could be read as a value, blanks at its ends would
/// be lost, it has a delimiter or quote, or its first byte could begin a byte-order mark.
bool needs_quotes(std::string_view text);

/// The end of a message about a text that is not a number.
struct NumberAdvice {
  std::string_view text;      ///< begins with a semicolon; empty if there is no advice
  bool names_option = false;  ///< names an option of CsvOptions, see InputOptionError
};

/// What the text seems to be, and what would be right. `decimal_comma`: the file has decimal
/// commas, which were replaced by points in `text`.
NumberAdvice number_advice(std::string_view text, bool decimal_comma);

}  // namespace lloyd
