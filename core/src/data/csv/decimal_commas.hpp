// Numbers with decimal commas.
#pragma once

namespace lloyd {

/// Replaces the comma of every cell that is a number with a decimal comma ("2,5", "-1,5e3") by a
/// point, and the point of a number with a decimal point by a comma, so that it is refused as no
/// number. Other cells, such as "1.000,5" and "Smith, J.", stay as they are. [begin, end) holds
/// whole lines, and `delimiter`, which separates their cells, is not a comma.
void replace_decimal_commas(char* begin, char* end, char delimiter);

}  // namespace lloyd
