#include "data/csv/csv_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/shown.hpp>

#include "data/csv/cells/csv_cell_kind.hpp"
#include "data/csv/csv_column_advice.hpp"
#include "data/rows/integer_rounding.hpp"

namespace lloyd {
namespace {

constexpr std::int64_t kMaxLineBytes = std::int64_t{1} << 28;
// A row whose quoted cells have line breaks is read again for each block that it extends to.
constexpr std::size_t kMaxBrokenRowBytes = std::size_t{1} << 24;

char delimiter_of(const std::filesystem::path& file, const CsvOptions& options) {
  if (!options.delimiter && lower_case_extension(file).starts_with(".tsv")) return '\t';
  if (!options.delimiter) return options.decimal_comma ? ';' : ',';
  const char c = *options.delimiter;
  // Characters that cannot be delimiters, because numbers, quotes and line ends consist of them.
  constexpr std::string_view kRefused("\0\r\n\"+-.", 7);
  const bool alphanumeric =
      (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  if (alphanumeric || kRefused.find(c) != std::string_view::npos) {
    throw InputError(fmt::format(
        "{}: '{}' cannot be the delimiter; use a comma, semicolon, tab, blank or another character",
        file.string(), shown({&c, 1})));
  }
  return c;
}

NumberNotation notation_of(const std::filesystem::path& file, const CsvOptions& options) {
  const NumberNotation notation{delimiter_of(file, options), options.decimal_comma,
                                options.thousands};
  if (!options.thousands) return notation;
  const char c = *options.thousands;
  if (c == ',' && options.decimal_comma) {
    throw InputError(fmt::format(
        "{}: ',' cannot be both the decimal comma and the thousands separator", file.string()));
  }
  if (kThousandsSeparators.find(c) == std::string_view::npos) {
    throw InputError(
        fmt::format("{}: '{}' cannot separate thousands; use a point, comma, "
                    "apostrophe, blank or underscore",
                    file.string(), shown({&c, 1})));
  }
  return notation;
}

// Reports a row with too few or too many cells; `row` is at its start.
[[noreturn]] void fail_length(CsvCursor row, std::int64_t expected) {
  const std::string_view line = row.rest().substr(0, row.rest().find('\n'));
  std::int64_t count = 0;
  bool ends_empty = false;
  do {
    ends_empty = row.take_cell(count++).text.empty();
  } while (row.take_delimiter());
  const std::string message =
      fmt::format("the row has {}; the first row has {}", format_count(count, "column"), expected);
  if (row.delimiter() == ',' && line.find(';') != std::string_view::npos) {
    row.fail_for_option(std::min(count, expected),
                        message +
                            "; if ';' separates the cells, set the delimiter option, or "
                            "the decimal_comma option for cells such as 2,5");
  }
  if (count == expected + 1 && ends_empty) {
    const std::string sign = row.delimiter() == '\t' ? "\\t" : std::string(1, row.delimiter());
    row.fail(expected, fmt::format("{}; it ends with a delimiter, which begins another column; sed "
                                   "'s/{}\\r*$//' removes the delimiters at the ends of lines",
                                   message, sign));
  }
  row.fail(std::min(count, expected), message);
}

void pass_row(CsvCursor& cursor) {
  std::int64_t column = 0;
  do {
    cursor.take_cell(column++);
  } while (cursor.take_delimiter());
  cursor.next_line();
}

}  // namespace

CsvRows::CsvRows(const std::filesystem::path& file, const CsvOptions& options)
    : memory_limit_(options.memory_limit),
      drop_missing_(options.drop_missing),
      missing_(options.missing),
      used_missing_(options.missing.size()),
      // A line takes its text and as much again for its values.
      blocks_(file, std::min(kMaxLineBytes, memory_limit_ / 4), options.stop,
              notation_of(file, options)),
      block_(blocks_.next(1)),
      cursor_(blocks_.path(), block_, notation_of(file, options)) {
  // The second row tells whether the first is a header. Empty lines between them are skipped once,
  // however many blocks they take.
  bool more = find_row();
  CsvCursor second = cursor_;
  if (more) pass_row(second);
  while (more && !second.find_row()) {
    const std::size_t size = block_.size();
    const std::size_t parsed = size - cursor_.bytes_left();
    check_memory(blocks_.memory());
    block_ = blocks_.extend(second.line());
    cursor_.continue_with(block_.substr(parsed));
    second.continue_with(block_.substr(size));
    more = block_.size() > size;
  }
  const std::int64_t first_line = cursor_.line();
  columns_ = read_csv_columns(cursor_, options, memory_limit_ / kCsvColumnBytes);
  next_line_ = columns_.feature_names.empty() ? cursor_.line() : first_line + 1;
  fixed_bytes_ = std::ssize(columns_.roles) * kCsvColumnBytes + blocks_.memory();
  has_nonzero_.resize(static_cast<std::size_t>(columns_.features));
  has_rounded_.resize(has_nonzero_.size());
  const std::int64_t last = std::ssize(columns_.roles) - 1;
  class_check_ = {drop_setting(columns_, {&last, 1}), label_setting(columns_, last)};
}

// Moves to the next non-blank line, in this block or the following ones.
bool CsvRows::find_row() {
  while (!cursor_.find_row()) {
    block_ = blocks_.next(cursor_.line());
    fixed_bytes_ = std::ssize(columns_.roles) * kCsvColumnBytes + blocks_.memory();
    if (block_.empty()) return false;
    cursor_.continue_with(block_);
  }
  return true;
}

// Appends more text to the block; `line` is that of the cursor, for messages. False at the end of
// the file.
bool CsvRows::extend_block(std::int64_t line) {
  const std::size_t size = block_.size();
  const std::size_t parsed = size - cursor_.bytes_left();
  check_memory(blocks_.memory());
  block_ = blocks_.extend(line);
  fixed_bytes_ = std::ssize(columns_.roles) * kCsvColumnBytes + blocks_.memory();
  cursor_.continue_with(block_.substr(parsed));
  return block_.size() > size;
}

// Moves to the next sample. In a table of one column, a blank line above it is a missing value.
bool CsvRows::find_sample() {
  if (!find_row()) return false;
  const std::int64_t first_line = std::exchange(next_line_, cursor_.line() + 1);
  if (columns_.roles.size() > 1) return true;
  for (std::int64_t line = first_line; line < cursor_.line(); ++line) {
    if (!drop_missing_) {
      cursor_.fail_for_option_at(line, 0,
                                 "the line is blank; write a number or remove the line; the "
                                 "drop_missing option leaves such rows out");
    }
    missing_counts_.resize(1);
    ++missing_counts_[0];
    dropped_.push_back(kept_ + dropped());
    check_memory(static_cast<std::int64_t>(dropped_.capacity() * sizeof(std::int64_t)));
  }
  return true;
}

template <class T>
std::int64_t CsvRows::read(std::int64_t most, PageBuffer<T>& values,
                           std::vector<std::string>& classes) {
  const std::size_t begin = values.size();
  std::int64_t rows = 0;
  while (rows < most && find_sample()) {
    if (read_row(values, classes)) {
      ++rows;
      ++kept_;
    } else {
      dropped_.push_back(kept_ + dropped());
    }
  }
  find_nonzero(values, begin);
  if (rows < most) finish();
  return rows;
}

// Checks of columns that need all of their values.
void CsvRows::finish() const {
  if (kept_ == 0) {
    const auto all =
        std::find(missing_counts_.begin(), missing_counts_.end(), std::ssize(dropped_));
    std::string advice;
    if (all != missing_counts_.end()) {
      const std::int64_t column =
          std::find(columns_.roles.begin(), columns_.roles.end(), all - missing_counts_.begin()) -
          columns_.roles.begin();
      advice = fmt::format(
          "; column {} has no value at all{}", column + 1,
          columns_.are_chosen
              ? fmt::format("; {}", choice_without(columns_, column))
              : fmt::format(", and {} leaves it out", drop_setting(columns_, {&column, 1})));
    }
    throw InputError(fmt::format("{}: every row has a missing value, so none is left{}",
                                 blocks_.path(), advice));
  }
  if (columns_.label_found) class_check_.finish(cursor_, std::ssize(columns_.roles) - 1);
  for (const RoundedToZero& zero : rounded_to_zero_) {
    if (has_nonzero_[static_cast<std::size_t>(zero.feature)]) continue;
    cursor_.fail_at(zero.line, zero.column,
                    fmt::format("'{}' is too small for float32, like all other nonzero values of "
                                "the column; set the dtype option to float64",
                                zero.text));
  }
}

// Looks for nonzero values from `begin` on; usually the first row has one in each column.
template <class T>
void CsvRows::find_nonzero(const PageBuffer<T>& values, std::size_t begin) {
  const auto width = static_cast<std::size_t>(columns_.features);
  for (std::size_t feature = 0; feature < width; ++feature) {
    for (std::size_t i = begin + feature; i < values.size() && !has_nonzero_[feature]; i += width) {
      if (values.data()[i] != 0) has_nonzero_[feature] = true;
    }
  }
}

// Handles a row in which numbers were rounded to zero.
template <class T>
void CsvRows::note_zeros(CsvCursor row, const T* values) {
  for (std::int64_t column = 0; column < std::ssize(columns_.roles); ++column) {
    const std::int64_t line = row.line();
    const CsvCell cell = row.take_cell(column);
    row.take_delimiter();
    const std::int64_t feature = columns_.roles[static_cast<std::size_t>(column)];
    if (feature < 0 || has_rounded_[static_cast<std::size_t>(feature)] || values[feature] != 0) {
      continue;
    }
    if (cell.text.find_first_of("123456789") >= cell.text.find_first_of("eE")) continue;
    has_rounded_[static_cast<std::size_t>(feature)] = true;
    rounded_to_zero_.push_back({column, feature, line, shown(cell.text)});
  }
}

// Counts a complete row; true while it is among the first rows whose rounding is measured.
bool CsvRows::count_inspected_row() {
  constexpr std::int64_t kMaxRows = 1000;
  constexpr std::int64_t kMaxValues = std::int64_t{1} << 17;
  const std::int64_t count = std::ssize(columns_.roles);
  if (rounding_rows_ >= std::clamp(kMaxValues / count, std::int64_t{2}, kMaxRows)) return false;
  ++rounding_rows_;
  return true;
}

// Reads a row again, as float64, to compare it with its float32 values.
void CsvRows::measure_rounding(CsvCursor row, const float* values) {
  const std::int64_t count = std::ssize(columns_.roles);
  rounding_.resize(static_cast<std::size_t>(columns_.features));
  for (std::int64_t column = 0; column < count; ++column) {
    if (column > 0) row.take_delimiter();
    const std::int64_t feature = columns_.roles[static_cast<std::size_t>(column)];
    if (feature < 0) {
      row.take_cell(column);
      continue;
    }
    const auto value = row.take_number<double>(column);
    FeatureRounding& rounding = rounding_[static_cast<std::size_t>(feature)];
    const auto error = std::fabs(value - static_cast<double>(values[feature]));
    rounding.error = std::max(rounding.error, error);
    rounding.minimum = std::min(rounding.minimum, value);
    rounding.maximum = std::max(rounding.maximum, value);
    rounding.has_fractions = rounding.has_fractions || value != std::floor(value);
  }
}

// Reads a row again if float64 may round an integer of it. Other numbers are kept as integers that
// float64 holds, so that they count as unchanged.
template <class T>
void CsvRows::keep_integers(CsvCursor row, const T* values) {
  constexpr auto kExact = static_cast<T>(0x1p53);
  const auto is_large = [](T value) { return std::fabs(value) >= kExact; };
  if (std::none_of(values, values + columns_.features, is_large)) return;
  const std::size_t begin = integers_.size();
  integers_.resize(begin + static_cast<std::size_t>(columns_.features));
  for (std::int64_t column = 0; column < std::ssize(columns_.roles); ++column) {
    if (column > 0) row.take_delimiter();
    const std::string_view text = row.take_cell(column).text;
    const std::int64_t feature = columns_.roles[static_cast<std::size_t>(column)];
    if (feature < 0) continue;
    std::int64_t integer = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
    if (error != std::errc{} || stop != text.data() + text.size()) {
      integer = is_large(values[feature]) ? 0 : static_cast<std::int64_t>(values[feature]);
    }
    integers_[begin + static_cast<std::size_t>(feature)] = integer;
  }
}

std::vector<FeatureRounding> CsvRows::rounding() const {
  std::vector<FeatureRounding> integers = integer_rounding(integers_, columns_.features);
  if (rounding_.empty() || integers.empty()) return integers.empty() ? rounding_ : integers;
  std::vector<FeatureRounding> rounding = rounding_;
  for (std::size_t j = 0; j < rounding.size(); ++j) {
    if (integers[j].error == 0) continue;
    rounding[j].exact_in_float64 = false;
    rounding[j].maximum = std::max(rounding[j].maximum, integers[j].maximum);
  }
  return rounding;
}

std::vector<std::string> CsvRows::unused_missing() const {
  std::vector<std::string> unused;
  for (std::size_t i = 0; i < used_missing_.size(); ++i) {
    if (!used_missing_[i]) unused.push_back(columns_.missing[i]);
  }
  return unused;
}

// Skips the cell if its value is missing.
bool CsvRows::skip_missing_value(std::int64_t column) {
  CsvCursor after = cursor_;
  const std::string_view text = trimmed(after.take_cell(column).text);
  const bool has_text = missing_.has_text(text);
  if (has_text) missing_.note_use(text, used_missing_);
  if (has_text && !drop_missing_) {
    cursor_.fail_for_option(column, fmt::format("'{}' counts as a missing value; the drop_missing "
                                                "option leaves such rows out",
                                                shown(text)));
  }
  if (!has_text && (!drop_missing_ || !is_missing_value(text))) return false;
  cursor_ = after;
  return true;
}

// Returns false if the row was left out because a value is missing.
template <class T>
bool CsvRows::read_row(PageBuffer<T>& values, std::vector<std::string>& classes) {
  const std::size_t value_count = values.size();
  const std::size_t class_count = classes.size();
  const std::int64_t class_bytes = class_bytes_;
  for (;;) {
    const CsvCursor start = cursor_;
    try {
      return parse_row(start, values, classes);
    } catch (const NumberNeededError& error) {
      throw InputOptionError(error.what() +
                             column_advice(columns_, error, start, kept_ + dropped()));
    } catch (const UnclosedQuoteError& error) {
      // The row goes on in the next block: it is read again.
      cursor_ = start;
      values.resize(value_count);
      classes.resize(class_count);
      class_bytes_ = class_bytes;
      if (start.bytes_left() > kMaxBrokenRowBytes) {
        throw InputError(fmt::format("{}; a row with line breaks in quotes may have at most 16 MiB",
                                     error.what()));
      }
      if (!extend_block(start.line())) throw;
    }
  }
}

// `start` is at the start of the row, as the cursor is.
template <class T>
bool CsvRows::parse_row(const CsvCursor& start, PageBuffer<T>& values,
                        std::vector<std::string>& classes) {
  const auto width = static_cast<std::size_t>(columns_.features);
  check_memory(static_cast<std::int64_t>((values.size() + width) * sizeof(T) +
                                         dropped_.capacity() * sizeof(std::int64_t)));
  values.resize(values.size() + width);
  T* const row = values.data() + values.size() - width;
  const std::int64_t count = std::ssize(columns_.roles);
  const bool checks_missing = drop_missing_ || missing_.has_texts();
  missing_in_row_.clear();
  for (std::int64_t column = 0; column < count; ++column) {
    if (column > 0 && !cursor_.take_delimiter()) fail_length(start, count);
    const std::int64_t role = columns_.roles[static_cast<std::size_t>(column)];
    if (role >= 0 && checks_missing && skip_missing_value(column)) {
      missing_in_row_.push_back(role);
    } else if (role >= 0) {
      row[role] = cursor_.template take_number<T>(column);
    } else if (role == CsvColumns::kLabel) {
      take_class(start, column, classes);
    } else {
      cursor_.take_cell(column);
    }
  }
  if (!cursor_.at_row_end()) fail_length(start, count);
  const bool complete = missing_in_row_.empty();
  if (!complete) missing_counts_.resize(width);
  for (const std::int64_t role : missing_in_row_) ++missing_counts_[static_cast<std::size_t>(role)];
  if (cursor_.take_rounded_to_zero() && complete) note_zeros(start, row);
  if (complete && count_inspected_row()) {
    if constexpr (std::is_same_v<T, float>) measure_rounding(start, row);
    keep_integers(start, row);
    text_columns_.add(columns_, start);
  }
  cursor_.next_line();
  if (!complete) {
    values.resize(values.size() - width);
    if (columns_.has_label) classes.pop_back();
  }
  return complete;
}

void CsvRows::take_class(const CsvCursor& start, std::int64_t column,
                         std::vector<std::string>& classes) {
  const std::string_view before = start.rest().substr(0, start.bytes_left() - cursor_.bytes_left());
  const CsvCell cell = cursor_.take_cell(column);
  cursor_.refuse_line_break(cell, column);
  const bool declared = is_declared_text(cell, before, cursor_.delimiter());
  if (columns_.label_found) {
    if (!cursor_.at_row_end()) return;  // too many cells: reported at the end of the row
    class_check_.add(cursor_, column, cell, declared);
  }
  const bool has_class = declared || !is_missing_value(cell.text);
  classes.push_back(has_class ? cell.unquoted() : std::string());
  // A growing vector holds up to three strings per element.
  class_bytes_ += static_cast<std::int64_t>(3 * sizeof(std::string) + cell.text.size());
}

void CsvRows::check_memory(std::int64_t bytes) const {
  if (bytes <= memory_limit_ - fixed_bytes_ - class_bytes_) return;
  throw InputError(
      fmt::format("{}, line {}: the table up to here takes more than the {:.0f} MiB of memory that "
                  "the limit leaves for it; copy_file() makes an .npy file of it, which need not "
                  "be held",
                  blocks_.path(), cursor_.line(), static_cast<double>(memory_limit_) / 0x1p20));
}

template std::int64_t CsvRows::read<float>(std::int64_t, PageBuffer<float>&,
                                           std::vector<std::string>&);
template std::int64_t CsvRows::read<double>(std::int64_t, PageBuffer<double>&,
                                            std::vector<std::string>&);

}  // namespace lloyd
