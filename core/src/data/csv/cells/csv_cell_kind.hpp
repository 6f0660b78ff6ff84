// CellKind: classifies the text of a cell as a number, nearly a number, a missing value or a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/csv/cells/number_notation.hpp"

namespace lloyd {

enum class CellKind {
  number,         ///< finite or infinite
  missing,        ///< empty, NaN, or a marker of a missing value: NA, ?, -, null
  almost_number,  ///< digits and signs, but no number: 1,000 2,5 12% $3 0x1F 2024-01-31
  quantity,       ///< a number followed by letters, or a date with a month's name: 12kg, Jan 1 2024
  name,           ///< everything else
};

/// The kind of a cell whose surrounding blanks and quotes were removed.
CellKind kind_of_cell(std::string_view text);

/// True for a marker of a missing value and for NaN.
bool is_missing_value(std::string_view text);

/// Decides which feature cells are missing values.
class MissingValues {
 public:
  MissingValues() = default;
  /// `texts`: CsvOptions::missing.
  explicit MissingValues(const std::vector<std::string>& texts);

  bool has_texts() const { return !texts_.empty(); }
  /// True for one of the texts, or a number that equals one of them.
  bool has_text(std::string_view cell) const;
  /// Sets used[i] if the cell has the i-th text, or a number that equals it. `used` has an entry
  /// for each text.
  void note_use(std::string_view cell, std::vector<bool>& used) const;
  /// True for these and for is_missing_value().
  bool contains(std::string_view cell) const { return is_missing_value(cell) || has_text(cell); }

 private:
  std::vector<std::string> texts_;
  std::vector<double> numbers_;
};

/// True if Lloyd writes the text in quotes: it could be read as a value, blanks at its ends would
/// be lost, it has a delimiter or quote, or its first byte could begin a byte-order mark, HTML or
/// JSON.
bool needs_quotes(std::string_view text);

/// The end of a message about a text that is not a number.
struct NumberAdvice {
  std::string text;           ///< begins with a semicolon; empty if there is no advice
  bool names_option = false;  ///< names an option of CsvOptions, see InputOptionError
  bool may_be_text = false;   ///< dates and quantities, whose columns may be left out as text is
};

/// What the text seems to be, and what would be right. `notation`: that of the file, from which
/// rewrite_numbers() has rewritten the numbers.
NumberAdvice number_advice(std::string_view text, const NumberNotation& notation);

/// Advice on an unquoted cell whose numbers another delimiter separates, as in number_advice();
/// empty for other texts.
std::string delimiter_advice(std::string_view text, const NumberNotation& notation);

/// True for a row of libsvm's format: a label, then number:value pairs, as in "0 1:2.53 4:1125".
bool is_sparse_row(std::string_view line);

}  // namespace lloyd
