#include "guards/inspected_rows.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <lloyd/data/row_source.hpp>
#include <lloyd/random.hpp>

namespace lloyd::apps {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool is_year(double value) {
  return value >= 1900 && value <= 2100 && value == std::floor(value);
}

// A pseudo-random row of part `part` of `parts` equal parts of `rows` rows; always the same one.
std::int64_t row_of_part(std::int64_t part, std::int64_t parts, std::int64_t rows) {
  const std::int64_t begin = part * rows / parts;
  const std::int64_t end = (part + 1) * rows / parts;
  const RandomStream offsets(0, 0);
  return begin + static_cast<std::int64_t>(offsets.below(static_cast<std::uint64_t>(end - begin),
                                                         static_cast<std::uint64_t>(part)));
}

// True for values that are hardly ever measured, and often stand for missing ones.
bool is_rare_marker(double value) {
  constexpr std::array<double, 4> kMarkers = {999, 9999, 99999, 999999};
  return value == -9 || value == -99 ||
         std::find(kMarkers.begin(), kMarkers.end(), std::fabs(value)) != kMarkers.end();
}

// True for these and for others that often stand for missing values, but are also measured.
bool is_marker(double value) {
  return is_rare_marker(value) || value == 0 || value == -1 || value == 99;
}

// The difference of the quartiles of `total` values.
double interquartile_range(const std::map<double, std::int64_t>& counts, std::int64_t total) {
  const auto quantile = [&](std::int64_t rank) {
    auto at = counts.begin();
    for (std::int64_t seen = at->second; seen <= rank; seen += at->second) ++at;
    return at->first;
  };
  return quantile(3 * total / 4) - quantile(total / 4);
}

// True if the row is a sequence with equal steps other than 0, as years, months, hours and
// wavelengths in headers are.
bool has_equal_steps(const InspectedRows& rows, std::int64_t row, std::int64_t features) {
  constexpr double kTolerance = 1e-3;
  const double step = rows.at(row, 1) - rows.at(row, 0);
  for (std::int64_t j = 2; j < features; ++j) {
    const double other = rows.at(row, j) - rows.at(row, j - 1);
    if (std::fabs(other - step) > kTolerance * std::fabs(step)) return false;
  }
  return step != 0;
}

// See find_sentinel(). `total`: all rows; `quartiles`: interquartile range of the other values.
bool is_sentinel(const Sentinel& found, std::int64_t total, double quartiles) {
  constexpr std::int64_t kMinRows = 3;
  constexpr std::int64_t kMaxRowsPerSentinel = 100;
  constexpr double kFarQuartiles = 10;
  if (found.rows < kMinRows) return false;
  const bool is_frequent = found.rows * kMaxRowsPerSentinel >= total;
  const bool is_rare = is_rare_marker(found.value);
  if (!is_frequent && !is_rare) return false;
  const double distance = std::fabs(found.nearest - found.value);
  if (found.value != 0 && distance > std::fabs(found.farthest - found.nearest)) return true;
  if (!is_marker(found.value) || 2 * found.rows > total || quartiles <= 0) return false;
  return distance > quartiles * (is_frequent ? 1 : kFarQuartiles);
}

// True for codes of missing values in columns of few integers, as questionnaires have.
bool is_code(double value) {
  return is_rare_marker(value) || value == -1 || value == 9 || value == 99;
}

// True if the value is a code apart from the few integers that the others are. 9 and -1 may be near
// a rating: the gap must be wider than 2, or 1, and than those between the others; other codes are
// farther than the range of the others. `others`: a count for each of them.
bool is_apart(double value, const std::map<double, std::int64_t>& others) {
  constexpr std::size_t kMinOthers = 2;
  if (others.size() < kMinOthers || !is_code(value)) return false;
  double widest = 0;
  for (auto at = others.begin(); at != others.end(); ++at) {
    if (at->first != std::floor(at->first)) return false;
    if (at != others.begin()) widest = std::max(widest, at->first - std::prev(at)->first);
  }
  const double low = others.begin()->first;
  const double high = std::prev(others.end())->first;
  const double gap = std::max(low - value, value - high);
  if (value == 9) return gap > std::max(2.0, widest);
  if (value == -1) return gap > std::max(1.0, widest);
  return gap > high - low;
}

// The values of the feature in all rows with their numbers of rows; those found so far if there are
// more than `most`. The data set is in memory.
std::map<double, std::int64_t> count_values(const Dataset& dataset, std::int64_t feature,
                                            std::size_t most) {
  dataset.check_mapped_file();
  std::map<double, std::int64_t> counts;
  for (std::int64_t i = 0; i < dataset.samples() && counts.size() <= most; ++i) {
    ++counts[dataset.matrix().at(i, feature)];
  }
  return counts;
}

// See find_sentinel(), for the minimum or maximum of a feature of few values. `counts`: all values.
std::optional<Sentinel> find_code(double value, std::map<double, std::int64_t> counts) {
  constexpr std::int64_t kMinRows = 3;
  std::int64_t total = 0;
  for (const auto& [other, rows] : counts) total += rows;
  const std::int64_t rows = counts[value];
  counts.erase(value);
  if (rows < kMinRows || 2 * rows > total || !is_apart(value, counts)) return std::nullopt;
  const double low = counts.begin()->first;
  const double high = std::prev(counts.end())->first;
  return value < low ? Sentinel{value, rows, low, high} : Sentinel{value, rows, high, low};
}

// Counts the value in all rows, and finds the extremes of the others. The data set is in memory.
Sentinel count_value(const Dataset& dataset, std::int64_t feature, double value, bool is_minimum) {
  dataset.check_mapped_file();
  std::int64_t rows = 0;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::int64_t i = 0; i < dataset.samples(); ++i) {
    const double other = dataset.matrix().at(i, feature);
    if (other == value) {
      ++rows;
    } else {
      low = std::min(low, other);
      high = std::max(high, other);
    }
  }
  return is_minimum ? Sentinel{value, rows, low, high} : Sentinel{value, rows, high, low};
}

}  // namespace

bool has_all_rows(const Dataset& dataset) {
  return dataset.in_memory() && !dataset.communicator();
}

InspectedRows::InspectedRows(const Dataset& dataset) : InspectedRows(dataset, false) {}

InspectedRows InspectedRows::spread(const Dataset& dataset) {
  return {dataset, has_all_rows(dataset)};
}

InspectedRows::InspectedRows(const Dataset& dataset, bool is_spread)
    : features_(dataset.features()) {
  constexpr std::int64_t kMaxValues = std::int64_t{1} << 20;
  const std::int64_t fitting = std::max(kMinInspectedSamples, kMaxValues / features_);
  rows_ = std::min({dataset.samples(), kMaxInspectedRows, fitting});
  values_.resize(static_cast<std::size_t>(rows_ * features_));
  if (dataset.in_memory()) {
    for (std::int64_t i = 0; i < rows_; ++i) {
      const std::int64_t row = is_spread ? row_of_part(i, rows_, dataset.samples()) : i;
      for (std::int64_t j = 0; j < features_; ++j) {
        values_[static_cast<std::size_t>(i * features_ + j)] = dataset.matrix().at(row, j);
      }
    }
  } else if (dataset.dtype() == DType::float64) {
    dataset.source()->read({0, rows_}, values_.data());
  } else {
    std::vector<float> read(values_.size());
    dataset.source()->read({0, rows_}, read.data());
    std::copy(read.begin(), read.end(), values_.begin());
  }
}

InspectedRows::InspectedRows(const CopiedRows& copied)
    : features_(copied.features),
      rows_(std::ssize(copied.first_rows) / copied.features),
      values_(copied.first_rows) {}

bool counts_rows(const InspectedRows& rows, std::int64_t feature) {
  const double first = rows.at(0, feature);
  if (first != 0 && first != 1) return false;
  for (std::int64_t i = 1; i < rows.rows(); ++i) {
    if (rows.at(i, feature) != first + static_cast<double>(i)) return false;
  }
  return true;
}

bool is_monotonic(const InspectedRows& rows, std::int64_t feature, bool rounded) {
  const double last = rows.at(rows.rows() - 1, feature);
  if (last == rows.at(0, feature)) return false;
  const bool ascends = last > rows.at(0, feature);
  for (std::int64_t i = 1; i < rows.rows(); ++i) {
    const double step = rows.at(i, feature) - rows.at(i - 1, feature);
    if ((step == 0 && !rounded) || (step != 0 && (step > 0) != ascends)) return false;
  }
  return true;
}

bool are_distinct(const InspectedRows& rows, std::int64_t feature) {
  std::set<double> seen;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    if (!seen.insert(rows.at(i, feature)).second) return false;
  }
  return true;
}

bool has_several_values(const InspectedRows& rows, std::int64_t feature) {
  std::set<double> values;
  for (std::int64_t i = 0; i < rows.rows() && values.size() < 3; ++i) {
    values.insert(rows.at(i, feature));
  }
  return values.size() > 2;
}

bool has_numeric_header(const InspectedRows& rows, std::int64_t features) {
  constexpr std::int64_t kMinRows = 3;
  if (rows.rows() < kMinRows) return false;
  const auto has_years = [&](std::int64_t row) {
    for (std::int64_t j = 0; j < features; ++j) {
      if (!is_year(rows.at(row, j))) return false;
    }
    return true;
  };
  const bool is_header =
      features > 2
          ? has_equal_steps(rows, 0, features)
          : has_years(0) && (features == 1 || std::fabs(rows.at(0, 1) - rows.at(0, 0)) == 1);
  if (!is_header) return false;
  for (std::int64_t i = 1; i < rows.rows(); ++i) {
    if (has_years(i) || (features > 2 && has_equal_steps(rows, i, features))) return false;
  }
  return true;
}

std::optional<Sentinel> find_sentinel(const Dataset& dataset, const InspectedRows& spread,
                                      std::int64_t feature) {
  constexpr std::size_t kMinOthers = 10;
  constexpr std::int64_t kMinRows = 3;
  const bool reads_column = has_all_rows(dataset) && spread.rows() < dataset.samples();
  const FeatureStatistics& statistics = dataset.statistics()[static_cast<std::size_t>(feature)];
  double minimum = reads_column ? statistics.minimum : spread.at(0, feature);
  double maximum = reads_column ? statistics.maximum : minimum;
  for (std::int64_t i = 0; i < spread.rows(); ++i) {
    minimum = std::min(minimum, spread.at(i, feature));
    maximum = std::max(maximum, spread.at(i, feature));
  }
  for (const double value : {minimum, maximum}) {
    std::int64_t rows = 0;
    for (std::int64_t i = 0; i < spread.rows(); ++i) rows += spread.at(i, feature) == value ? 1 : 0;
    // Usually the case, and cheaper than what follows.
    if (rows < (reads_column ? 1 : kMinRows) && !(reads_column && is_rare_marker(value))) continue;
    std::map<double, std::int64_t> others;
    for (std::int64_t i = 0; i < spread.rows(); ++i) ++others[spread.at(i, feature)];
    if (others.size() <= kMinOthers && is_code(value)) {
      if (reads_column) others = count_values(dataset, feature, kMinOthers);
      if (others.size() > kMinOthers) continue;
      if (const std::optional<Sentinel> found = find_code(value, others)) return found;
    }
    others.erase(value);
    if (others.size() < kMinOthers) continue;
    const double quartiles = interquartile_range(others, spread.rows() - rows);
    Sentinel found{value, rows, others.begin()->first, std::prev(others.end())->first};
    if (value == maximum) std::swap(found.nearest, found.farthest);
    if (reads_column) {
      // The nearest of all other values is at least as near, so this may be the end.
      found.rows = spread.rows() / 2;
      if (!is_sentinel(found, spread.rows(), quartiles)) continue;
      found = count_value(dataset, feature, value, value == minimum);
    }
    if (is_sentinel(found, reads_column ? dataset.samples() : spread.rows(), quartiles)) {
      return found;
    }
  }
  return std::nullopt;
}

bool has_value(const Dataset& dataset, const InspectedRows& spread, std::int64_t feature,
               double value) {
  for (std::int64_t i = 0; i < spread.rows(); ++i) {
    if (spread.at(i, feature) == value) return true;
  }
  if (!has_all_rows(dataset)) return false;
  const FeatureStatistics& statistics = dataset.statistics()[static_cast<std::size_t>(feature)];
  if (value < statistics.minimum || value > statistics.maximum) return false;
  dataset.check_mapped_file();
  for (std::int64_t i = 0; i < dataset.samples(); ++i) {
    if (dataset.matrix().at(i, feature) == value) return true;
  }
  return false;
}

bool are_dates(const InspectedRows& rows, std::int64_t feature, bool rounded) {
  const double slack = rounded ? 1 : 0;  // between 2^24 and 2^25, float32 holds even integers
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    const double value = rows.at(i, feature);
    if (value < 18000101 || value > 21991231 || value != std::floor(value)) return false;
    const double month = std::floor(std::fmod(value, 10000) / 100);
    const double day = std::fmod(value, 100);
    if (month < 1 || month > 12 || day < 1 - slack || day > 31 + slack) return false;
  }
  return true;
}

bool are_months(const InspectedRows& rows, std::int64_t feature) {
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    const double value = rows.at(i, feature);
    if (value < 180001 || value > 219912 || value != std::floor(value)) return false;
    const double month = std::fmod(value, 100);
    if (month < 1 || month > 12) return false;
  }
  return has_several_values(rows, feature);
}

bool counts_samples(const Dataset& dataset, const InspectedRows& rows, std::int64_t feature) {
  constexpr std::int64_t kMinSamples = 50;
  const FeatureStatistics& statistics = dataset.statistics()[static_cast<std::size_t>(feature)];
  const std::int64_t samples = dataset.samples();
  if (samples < kMinSamples || (statistics.minimum != 0 && statistics.minimum != 1)) return false;
  const double values = statistics.maximum - statistics.minimum + 1;
  return values >= static_cast<double>(samples) &&
         values <= static_cast<double>(samples + dataset.dropped_rows) &&
         are_distinct(rows, feature);
}

bool is_integer_valued(const FeatureStatistics& feature) {
  return feature.quantum_exponent >= 0 && feature.minimum < feature.maximum;
}

bool may_be_classes(const FeatureStatistics& feature) {
  constexpr double kMaxClasses = 20;
  return is_integer_valued(feature) && feature.minimum >= -1 && feature.minimum <= 1 &&
         feature.maximum - feature.minimum < kMaxClasses;
}

bool has_fixed_length(const FeatureStatistics& feature) {
  constexpr double kMinNumber = 1e6;
  if (feature.minimum < kMinNumber) return false;
  return std::floor(std::log10(feature.minimum)) == std::floor(std::log10(feature.maximum));
}

bool names_identifier(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {"id",  "uid", "uuid", "guid", "index",
                                                      "idx", "key", "row",  "rowid"};
  const std::string lower = lower_case(name);
  if (std::find(kNames.begin(), kNames.end(), lower) != kNames.end()) return true;
  return lower.ends_with("_id") || lower.ends_with("-id") || lower.ends_with(" id") ||
         lower.starts_with("id_") || name.ends_with("Id");
}

bool names_classes(std::string_view name) {
  constexpr std::array<std::string_view, 7> kWords = {"class",   "label",   "target",   "species",
                                                      "cluster", "outcome", "diagnosis"};
  const std::string lower = lower_case(name);
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return lower.starts_with(word); });
}

}  // namespace lloyd::apps
