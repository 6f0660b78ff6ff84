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
/// Maximum number of rows that are inspected.
inline constexpr std::int64_t kMaxInspectedRows = 1000;

/// The first rows of a data set, as float64: kMaxInspectedRows, or fewer if they are long or fewer
/// exist.
class InspectedRows {
 public:
  /// Reads the rows if the data set is not in memory, and throws what reading throws.
  explicit InspectedRows(const Dataset& dataset);
  explicit InspectedRows(const CopiedRows& copied);
  /// The same number of rows. If the whole data set is in memory, it is split into equal parts, and
  /// one pseudo-random row of each is taken, so that periodic values are not missed; else the first
  /// rows are taken.
  static InspectedRows spread(const Dataset& dataset);

  std::int64_t rows() const { return rows_; }
  double at(std::int64_t row, std::int64_t feature) const {
    return values_[static_cast<std::size_t>(row * features_ + feature)];
  }

 private:
  // `is_spread`: take rows of the whole data set, which must be in memory.
  InspectedRows(const Dataset& dataset, bool is_spread);

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

/// True if all samples are in the memory of this process, so that whole columns can be read.
bool has_all_rows(const Dataset& dataset);

/// A value that stands for a missing one, such as -999.
struct Sentinel {
  double value = 0;
  std::int64_t rows = 0;  ///< rows with this value: of all, or of the inspected ones
  double nearest = 0;     ///< extremes of the other values
  double farthest = 0;
};

/// The minimum or maximum of a feature, if it seems to stand for missing values. All rows count if
/// has_all_rows(), else the inspected ones; `spread` is InspectedRows::spread() of the data set.
/// The value occurs in at least 3 rows. Among at least 10 distinct other values, one of these holds
/// for its distance from the others:
/// - it exceeds the range of the others, and the value is not 0 and occurs in at least 1 % of the
///   rows, or is one of -9, -99, 999, 9999, ... (also negative);
/// - it exceeds their interquartile range, and the value is one of these or 0, -1 or 99, and occurs
///   in 1 % to 50 % of the rows;
/// - it exceeds ten times their interquartile range, and the value is one of -9, -99, 999, ...
/// Among two to nine other values, all of them integers, it may be a code of a questionnaire: -9,
/// -99, 99, 999, ... that are farther from the others than their range, 9 behind a gap of more than
/// 2, or -1 behind a gap of more than 1, which is wider than those between the others; in at most
/// half of the rows.
std::optional<Sentinel> find_sentinel(const Dataset& dataset, const InspectedRows& spread,
                                      std::int64_t feature);
/// True if a row has the value: one of all if has_all_rows(), else one of `spread`.
bool has_value(const Dataset& dataset, const InspectedRows& spread, std::int64_t feature,
               double value);

/// True if all inspected values are dates written as integers: YYYYMMDD, from 1800 to 2199.
/// `rounded`: rounding to float32 may have changed the last digit.
bool are_dates(const InspectedRows& rows, std::int64_t feature, bool rounded);

/// True if all inspected values are months written as integers: YYYYMM, from 1800 to 2199, at least
/// three.
bool are_months(const InspectedRows& rows, std::int64_t feature);
/// True if the integers are, in any order, 0, 1, 2, ... or 1, 2, 3, ... for at least 50 samples; as
/// far as the inspected rows show. Rows that were left out may have the others.
bool counts_samples(const Dataset& dataset, const InspectedRows& rows, std::int64_t feature);

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
