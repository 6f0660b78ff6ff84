#include "data/csv/csv_text_columns.hpp"

#include <algorithm>

namespace lloyd {
namespace {

bool consists_of_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// True for digits that begin with a zero, at least three: 00123. Months and hours have two.
bool has_leading_zeros(std::string_view text) {
  constexpr std::size_t kMinDigits = 3;
  return text.size() >= kMinDigits && text.front() == '0' && consists_of_digits(text);
}

// True for up to three digits, which do not begin with a zero, and three decimals: 12.345.
bool may_have_thousands(std::string_view text) {
  constexpr std::size_t kGroup = 3;
  const std::size_t point = text.find('.');
  return point != std::string_view::npos && point <= kGroup && text.size() == point + 1 + kGroup &&
         text.front() != '0' && consists_of_digits(text.substr(0, point)) &&
         consists_of_digits(text.substr(point + 1));
}

}  // namespace

void TextColumns::add_value(std::string_view text, Column& column) {
  constexpr std::size_t kGroup = 3;
  if (column.padded.empty() && has_leading_zeros(text)) column.padded = text.substr(0, 30);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (may_have_thousands(text)) {
    ++column.grouped_values;
    if (column.grouped.empty()) column.grouped = text;
  } else if (text.size() <= kGroup && consists_of_digits(text)) {
    if (column.integer.empty()) column.integer = text;
  } else {
    column.has_other_form = true;
    column.has_decimals = column.has_decimals || text.find('.') != std::string_view::npos;
  }
}

void TextColumns::add(const CsvColumns& columns, CsvCursor row) {
  columns_.resize(static_cast<std::size_t>(columns.features));
  is_semicolon_ = row.delimiter() == ';';
  for (std::int64_t column = 0; column < std::ssize(columns.roles); ++column) {
    if (column > 0) row.take_delimiter();
    const std::string_view text = row.take_cell(column).text;
    const std::int64_t feature = columns.roles[static_cast<std::size_t>(column)];
    if (feature >= 0) add_value(text, columns_[static_cast<std::size_t>(feature)]);
  }
}

std::vector<TextFeature> TextColumns::take() const {
  // Of values that are rounded to three decimals, one in ten has fewer.
  constexpr std::int64_t kMinGroupedValues = 20;
  // Other columns tell what a point means in this file.
  const bool has_decimals = std::any_of(columns_.begin(), columns_.end(),
                                        [](const Column& column) { return column.has_decimals; });
  std::vector<TextFeature> features(columns_.size());
  bool tells = false;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const Column& column = columns_[j];
    features[j].leading_zeros = column.padded;
    if (!has_decimals && !column.has_other_form && (is_semicolon_ || !column.integer.empty()) &&
        column.grouped_values >= kMinGroupedValues) {
      features[j].grouped = column.grouped;
      features[j].integer = column.integer;
    }
    tells = tells || !column.padded.empty() || !features[j].grouped.empty();
  }
  return tells ? features : std::vector<TextFeature>();
}

}  // namespace lloyd
