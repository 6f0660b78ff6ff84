#include "data/csv/csv_numeric_header.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "data/csv/cells/csv_cell_kind.hpp"

namespace lloyd {
namespace {

// The names of the columns after the index, as numbers, and the last one if it is no number.
struct IndexedNames {
  std::vector<double> numbers;  // empty if the cells are other than numbers that all differ
  std::string_view class_name;
};

IndexedNames read_names(const std::vector<CsvCell>& first) {
  IndexedNames names;
  for (std::size_t i = 1; i < first.size(); ++i) {
    const std::string_view text = first[i].text;
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && stop == text.data() + text.size() && std::isfinite(value)) {
      names.numbers.push_back(value);
    } else if (i > 1 && i + 1 == first.size() && kind_of_cell(text) == CellKind::name) {
      names.class_name = text;
    } else {
      return {};
    }
  }
  const std::set<double> distinct(names.numbers.begin(), names.numbers.end());
  if (distinct.size() < names.numbers.size()) names.numbers.clear();
  return names;
}

// True for 0, 1, 2, ..., for years, and for three or more numbers in equal steps.
bool are_usual_names(const std::vector<double>& names) {
  constexpr double kTolerance = 1e-3;
  const auto is_year = [](double name) {
    return name >= 1900 && name <= 2100 && name == std::floor(name);
  };
  if (names == std::vector<double>{0} || names == std::vector<double>{0, 1}) return true;
  if (std::all_of(names.begin(), names.end(), is_year)) return true;
  if (names.size() < 3) return false;
  const double step = names[1] - names[0];
  for (std::size_t i = 2; i < names.size(); ++i) {
    if (std::fabs(names[i] - names[i - 1] - step) > kTolerance * std::fabs(step)) return false;
  }
  return true;
}

}  // namespace

bool counts_columns(const std::vector<CsvCell>& first, const std::vector<CsvCell>& second) {
  if (first.size() < 2 || first.size() != second.size()) return false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i].quoted || first[i].text != std::to_string(i)) return false;
    if (second[i].text.find_first_of(".eE") == std::string_view::npos ||
        !is_number(second[i].text)) {
      return false;
    }
  }
  return true;
}

bool is_header_above_index(const std::vector<CsvCell>& first, CsvCursor below) {
  constexpr std::int64_t kMaxRows = 1000;
  constexpr std::int64_t kMaxCells = std::int64_t{1} << 17;
  constexpr std::int64_t kMinCounted = 3;
  const std::int64_t columns = std::ssize(first);
  if (columns < 2 || !first.front().text.empty()) return false;
  const IndexedNames names = read_names(first);
  if (names.numbers.empty()) return false;
  const std::int64_t max_rows = std::clamp(kMaxCells / columns, std::int64_t{2}, kMaxRows);
  std::set<std::string_view> index;
  bool counts_rows = true;  // from 0 or 1
  bool is_text = true;
  std::string_view start;
  try {
    for (std::int64_t row = 0; row < max_rows && below.find_row(); ++row) {
      const std::string_view text = below.take_cell(0).text;
      const bool number = is_number(text);
      if (text.empty() || (number && !is_integer(text))) return false;
      if (!index.insert(text).second) return false;
      if (row == 0) start = text;
      is_text = is_text && !number && !is_missing_value(text);
      counts_rows = counts_rows && (start == "0" || start == "1") &&
                    text == std::to_string(row + (start == "1" ? 1 : 0));
      CsvCell last;
      for (std::int64_t column = 1; column < columns && below.take_delimiter(); ++column) {
        last = below.take_cell(column);
      }
      if (!below.at_row_end()) return false;
      // A class, which other samples have too.
      if (!names.class_name.empty() && last.text == names.class_name) return false;
      below.next_line();
    }
  } catch (const InputError&) {
    // The rows before the faulty one, or the one that goes on in the next block, suffice.
  }
  if (index.empty()) return false;
  return are_usual_names(names.numbers) || is_text ||
         (counts_rows && std::ssize(index) >= kMinCounted);
}

}  // namespace lloyd
