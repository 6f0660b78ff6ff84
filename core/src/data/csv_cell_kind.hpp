// What a cell's text is: a number, nearly one, a mark of a missing value or a name.
#pragma once

#include <string_view>

namespace lloyd {

enum class CellKind {
  number,         ///< finite or not
  missing,        ///< empty, or a mark for a missing value: NA, ?, -, null
  almost_number,  ///< digits and signs, but no number: 1,000 2,5 12% $3 0x1F 2024-01-31
  quantity,       ///< begins like a number and goes on with letters: 12kg, 1st
  name,           ///< all else
};

/// Of a cell without the blanks and quotes around it.
CellKind kind_of_cell(std::string_view text);

/// For a message on a text that is no number: what it seems to be and what would be right,
/// beginning with a semicolon. Empty where there is nothing to say.
std::string_view number_advice(std::string_view text);

}  // namespace lloyd
