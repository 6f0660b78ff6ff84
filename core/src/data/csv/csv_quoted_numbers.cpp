#include "data/csv/csv_quoted_numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include <lloyd/error.hpp>

namespace lloyd {
namespace {

// The value of a number; NaN if it is beyond the range of float64.
double number_value(std::string_view number) {
  if (number.starts_with('+')) number.remove_prefix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  return error == std::errc{} ? value : std::numeric_limits<double>::quiet_NaN();
}

bool is_zero_padded(std::string_view number) {
  return number.size() > 1 && number[0] == '0' && number[1] >= '0' && number[1] <= '9';
}

}  // namespace

bool holds_quoted_numbers(CsvCursor row, std::int64_t columns, const MissingValues& missing) {
  constexpr std::int64_t kMaxRows = 1000;
  constexpr std::int64_t kMaxCells = std::int64_t{1} << 17;
  constexpr std::size_t kMaxClasses = 20;
  const std::int64_t max_rows = std::clamp(kMaxCells / columns, std::int64_t{2}, kMaxRows);
  std::set<double> distinct;
  std::size_t numbers = 0;
  bool has_value = false;  // a number that is no class
  try {
    for (std::int64_t rows = 0; rows < max_rows; ++rows) {
      CsvCell last = row.take_cell(0);
      for (std::int64_t column = 1; column < columns && row.take_delimiter(); ++column) {
        last = row.take_cell(column);
      }
      if (!row.at_row_end()) break;
      const std::string_view text = trimmed(last.text);
      if (!missing.contains(text)) {
        if (!is_number(text) || is_zero_padded(text)) return false;
        const double value = number_value(text);
        has_value = has_value || !last.quoted || value != std::floor(value);
        if (!std::isnan(value)) distinct.insert(value);
        ++numbers;
      }
      row.next_line();
      if (!row.find_row()) break;
    }
  } catch (const InputError&) {
    // The rows before the faulty one, or the one that goes on in the next block, suffice.
  }
  return has_value || (distinct.size() > kMaxClasses && 2 * distinct.size() > numbers);
}

}  // namespace lloyd
