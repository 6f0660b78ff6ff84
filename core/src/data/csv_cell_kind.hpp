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

/// What a message on a text that is no number goes on with.
struct NumberAdvice {
  std::string_view text;      ///< begins with a semicolon; empty where there is nothing to say
  bool names_option = false;  ///< of CsvOptions, see InputOptionError
};

/// What the text seems to be and what would be right.
NumberAdvice number_advice(std::string_view text);

}  // namespace lloyd
