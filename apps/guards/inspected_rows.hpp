// InspectedRows: the first rows of a data set, and what they look like.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <lloyd/data/copy_rows.hpp>
#include <lloyd/dataset.hpp>

namespace lloyd::apps {

/// Data sets of fewer samples are not inspected.
inline constexpr std::int64_t kMinInspectedSamples = 10;

/// The first rows of a data set, as float64: 1000, or fewer if they are long or fewer exist.
class InspectedRows {
 public:
  /// Reads the rows if the data set is not in memory, and throws what reading throws.
  explicit InspectedRows(const Dataset& dataset);
  explicit InspectedRows(const CopiedRows& copied);

  std::int64_t rows() const { return rows_; }
  double at(std::int64_t row, std::int64_t feature) const {
    return values_[static_cast<std::size_t>(row * features_ + feature)];
  }

 private:
  std::int64_t features_;
  std::int64_t rows_ = 0;
  std::vector<double> values_;
};

/// True if the values are 0, 1, 2, ... or 1, 2, 3, ...
bool counts_rows(const InspectedRows& rows, std::int64_t feature);
/// True if the values ascend, or descend, strictly. `rounded`: rounding may have made neighbours
/// equal, so equal neighbours are accepted unless all values are equal.
bool is_monotonic(const InspectedRows& rows, std::int64_t feature, bool rounded);
bool are_distinct(const InspectedRows& rows, std::int64_t feature);
/// True if the inspected rows have more than two values.
bool has_several_values(const InspectedRows& rows, std::int64_t feature);
/// True if the first row looks like a header of numbers: it has equal steps, or, with one or two
/// features, is a year or two that differ by one. No other row may have equal steps or consist of
/// years.
bool has_numeric_header(const InspectedRows& rows, std::int64_t features);

/// A value that stands for a missing one, such as -999.
struct Sentinel {
  double value = 0;
  std::int64_t rows = 0;  ///< inspected rows with this value
  double nearest = 0;     ///< extremes of the other values
  double farthest = 0;
};

/// The minimum or maximum of a feature if it occurs in at least 3 of the inspected rows and 1 % of
/// them, and is farther from the other values than these are from one another; a usual marker (0,
/// -1, 99, 999, ..., also negative) if it occurs in at most half of the rows, and its distance from
/// the other values exceeds their interquartile range. At least 10 distinct other values are
/// required: with fewer, the feature may be a category. 0 is only found by the second rule.
std::optional<Sentinel> find_sentinel(const InspectedRows& rows, std::int64_t feature);
/// True if an inspected row has the value.
bool has_value(const InspectedRows& rows, std::int64_t feature, double value);

/// True if all inspected values are dates written as integers: YYYYMMDD, from 1800 to 2199.
/// `rounded`: rounding to float32 may have changed the last digit.
bool are_dates(const InspectedRows& rows, std::int64_t feature, bool rounded);

/// True if the values are integers, and not all the same.
bool is_integer_valued(const FeatureStatistics& feature);
/// True if the values can be the numbers of classes: integers in an interval of at most 20 that
/// begins at -1, 0 or 1.
bool may_be_classes(const FeatureStatistics& feature);
/// True if the integers of the feature are positive and have the same number of digits, at least 7,
/// as account numbers have.
bool has_fixed_length(const FeatureStatistics& feature);

/// True for "id", "customer_id", "customerId", "ID", "index", "row" and the like.
bool names_identifier(std::string_view name);
/// True for "class", "Target", "cluster_id" and the like.
bool names_classes(std::string_view name);

}  // namespace lloyd::apps
