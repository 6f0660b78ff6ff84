#include "guards/data_guards.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include <lloyd/internal/column_argument.hpp>
#include <lloyd/internal/shown.hpp>

#include "guards/file_guards.hpp"
#include "guards/inspected_rows.hpp"
#include "guards/remedies.hpp"
#include "guards/totals_row.hpp"
#include "options/option_names.hpp"
#include "output/output.hpp"
#include "text/names.hpp"

namespace lloyd::apps {
namespace {

constexpr double kMaxScaleRatio = 100;

// The names of the features and of the classes.
std::vector<std::string> all_names(const Dataset& dataset) {
  std::vector<std::string> names = dataset.feature_names;
  names.push_back(dataset.class_name);
  return names;
}

class Guards {
 public:
  // `has_model_features`: the features are those of a model, so none may be left out.
  Guards(const Dataset& dataset, const DataOptions& options, Remedy remedy,
         bool has_model_features = false)
      : dataset_(dataset),
        options_(options),
        remedies_(dataset, options, remedy),
        has_model_features_(has_model_features),
        features_(dataset.statistics()),
        flagged_(features_.size()),
        covers_rounding_(features_.size()) {}

  void check_columns() {
    const InspectedRows rows(dataset_);
    const auto d = static_cast<std::int64_t>(features_.size());
    for (std::int64_t j = 0; j < d; ++j) {
      if (j == 0 && !names().empty() && names().front().empty()) {
        flag(j, "the first column has no name, as row numbers often have none");
      } else if (has_leading_zeros(j)) {
        flag(j, fmt::format("{} has numbers with leading zeros, such as {}, as postal codes and "
                            "identifiers have",
                            name(j),
                            dataset_.text_features[static_cast<std::size_t>(j)].leading_zeros));
      } else if (!is_integer_valued(features_[static_cast<std::size_t>(j)]) || has_fractions(j)) {
        continue;
      } else if (j == 0 && counts_rows(rows, j)) {
        flag(j, fmt::format("the first column counts the rows: {}, {}, {}, ...", rows.at(0, j),
                            rows.at(1, j), rows.at(2, j)));
      } else if (are_dates(rows, j, is_rounded(j))) {
        flag_dates(j);
      } else if (are_months(rows, j)) {
        flag(
            j,
            fmt::format("{} holds months as numbers, such as {}, whose differences are not months; "
                        "convert them to months, or",
                        name(j), features_[static_cast<std::size_t>(j)].minimum),
            " ");
      } else if (looks_like_identifier(rows, j) && is_rounded(j)) {
        flag_rounded_integers(j);
      } else if (looks_like_identifier(rows, j)) {
        flag(j, fmt::format("{} looks like an identifier: its integers are all distinct", name(j)));
      }
    }
    const std::size_t last = features_.size() - 1;
    check_named_classes(0, last);
    check_classes();
    check_named_classes(last, last + 1);
    check_first_classes();
  }

  // One sentence for each value that stands for missing ones.
  void check_sentinels() {
    const InspectedRows rows = InspectedRows::spread(dataset_);
    std::vector<ColumnSentinel> all;
    for (std::int64_t j = 0; j < std::ssize(features_); ++j) {
      if (flagged_[static_cast<std::size_t>(j)]) continue;
      if (const std::optional<Sentinel> found = find_sentinel(dataset_, rows, j)) {
        flagged_[static_cast<std::size_t>(j)] = true;  // its deviation is that of the sentinel
        all.push_back({j, *found});
      }
    }
    while (!all.empty()) {
      const double value = all.front().sentinel.value;
      const auto others = std::stable_partition(
          all.begin(), all.end(),
          [&](const ColumnSentinel& each) { return each.sentinel.value == value; });
      warn_of_sentinel(rows, {all.begin(), others});
      all.erase(all.begin(), others);
    }
  }

  // A point that separates thousands was read as a decimal point.
  void check_thousands() {
    for (std::size_t j = 0; j < dataset_.text_features.size(); ++j) {
      const TextFeature& text = dataset_.text_features[j];
      if (text.grouped.empty()) continue;
      warnings_.push_back(fmt::format(
          "{}: {} has values such as {}{}, but none with one or two decimals, so its points "
          "may separate thousands; {}",
          options_.file, name(static_cast<std::int64_t>(j)), text.grouped,
          text.integer.empty() ? "" : fmt::format(" and {}", text.integer),
          remedies_.names_keys() ? "'dataset.thousands: \".\"' reads them so"
                                 : "--thousands . reads them so"));
      return;
    }
  }

  void check_totals() {
    if (dataset_.communicator()) return;
    const std::vector<std::string>& classes = dataset_.classes;
    const bool is_named = !classes.empty() && names_total(classes.back()) &&
                          std::count(classes.begin(), classes.end(), classes.back()) == 1;
    const std::vector<std::int64_t> totals = find_totals(dataset_);
    if (totals.empty() && !is_named) return;
    constexpr std::size_t kMaxNamed = 3;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < std::min(totals.size(), kMaxNamed); ++i) {
      texts.push_back(name(totals[i]));
    }
    if (totals.size() > kMaxNamed)
      texts.push_back(fmt::format("{} more", totals.size() - kMaxNamed));
    const std::string what =
        is_named ? fmt::format("has the class '{}'", shown(classes.back()))
                 : fmt::format("holds the sums of the others in {}", enumerated(texts, "and"));
    warnings_.push_back(
        fmt::format("{}: the last row, sample {} counted from 0, {}, so it may be a totals row; {}",
                    options_.file, dataset_.samples() - 1, what, remedies_.advice_on_last_row()));
  }

  void check_scales() {
    std::optional<std::size_t> least;
    std::optional<std::size_t> greatest;
    for (std::size_t j = 0; j < features_.size(); ++j) {
      if (flagged_[j] || features_[j].variance <= 0) continue;
      if (!least || features_[j].variance < features_[*least].variance) least = j;
      if (!greatest || features_[j].variance > features_[*greatest].variance) greatest = j;
    }
    if (!least) return;
    const double small = std::sqrt(features_[*least].variance);
    const double large = std::sqrt(features_[*greatest].variance);
    if (large < kMaxScaleRatio * small) return;
    const std::string wide = name(static_cast<std::int64_t>(*greatest));
    warnings_.push_back(fmt::format(
        "{}: the standard deviation of {} is {:.3g}, that of {} is {:.3g}, so {} decides the "
        "clusters; {} gives every feature the standard deviation 1",
        options_.file, name(static_cast<std::int64_t>(*least)), small, wide, large, wide,
        remedies_.names_keys() ? "'dataset.standardize: true'" : "--standardize"));
  }

  // A value far from all others makes nearly all of a feature's variance, so that the others are
  // nearly equal once the feature is standardized: with n samples, of which one is z deviations
  // from the mean, the variance of the others is n / (n - 1) (1 - z^2 / (n - 1)). Samples of
  // log-normal and Pareto distributions are rarely below the limit. Features with one or two values
  // are categories.
  void check_outliers() {
    constexpr std::int64_t kMinRows = 20;
    if (dataset_.samples() < kMinRows) return;
    const auto n = static_cast<double>(dataset_.samples());
    const InspectedRows rows(dataset_);
    for (std::size_t j = 0; j < features_.size(); ++j) {
      const FeatureStatistics& feature = features_[j];
      if (flagged_[j] || feature.variance <= 0) continue;
      const double above = feature.maximum - feature.mean;
      const double below = feature.mean - feature.minimum;
      const double z = std::max(above, below) / std::sqrt(feature.variance);
      const double others = n / (n - 1) * (1 - z * z / (n - 1));
      const auto column = static_cast<std::int64_t>(j);
      if (others * kMaxScaleRatio * kMaxScaleRatio >= 1 || !has_several_values(rows, column)) {
        continue;
      }
      flagged_[j] = true;
      warnings_.push_back(fmt::format(
          "{}: {} has a value, {:.6g}, that is {:.3g} standard deviations from the mean, so once "
          "it is standardized, its other values have a standard deviation below {:g} and hardly "
          "count; correct the value or remove its row{}",
          options_.file, name(column), above > below ? feature.maximum : feature.minimum, z,
          1 / kMaxScaleRatio,
          options_.columns.empty()
              ? "; " + remedies_.drop_advice(column, "the feature")
              : ", or " + remedies_.choice_without({remedies_.option_value(column)})));
    }
  }

  // A last column of text that was taken as classes, although more than half of the inspected
  // values are distinct, as with names.
  void check_text_classes() {
    constexpr std::size_t kMaxInspected = 1000;
    const std::size_t rows = std::min(dataset_.classes.size(), kMaxInspected);
    if (rows == 0 || !options_.label_column.empty()) return;
    const std::set<std::string_view> distinct(
        dataset_.classes.begin(), dataset_.classes.begin() + static_cast<std::ptrdiff_t>(rows));
    const std::string column = column_argument({dataset_.class_name}, 0, dataset_.class_column);
    if (may_be_quoted_numbers(distinct)) {
      warnings_.push_back(fmt::format(
          "{}: the last column is taken as classes since its numbers are in quotes, but {} of the "
          "first {} are distinct; {}",
          options_.file, distinct.size(), rows, remedies_.choice_with(column)));
      return;
    }
    if (distinct.size() <= rows / 2) return;
    warnings_.push_back(fmt::format(
        "{}: the last column is text and is taken as classes, but {} of the first {} values are "
        "distinct, as names are; {}",
        options_.file, distinct.size(), rows, remedies_.drop_advice({column}, "it")));
  }

  std::vector<std::string> take() { return std::move(warnings_); }

  // True if a warning about the feature already says how rounding changes it.
  bool covers_rounding(std::int64_t feature) const {
    return covers_rounding_[static_cast<std::size_t>(feature)];
  }

 private:
  struct ColumnSentinel {
    std::int64_t feature;
    Sentinel sentinel;
  };

  // `columns`: those with the same value, at least one.
  void warn_of_sentinel(const InspectedRows& rows, std::span<const ColumnSentinel> columns) {
    constexpr std::size_t kMaxNamed = 10;
    const Sentinel& found = columns.front().sentinel;
    const auto [low, high] = std::minmax(found.nearest, found.farthest);
    const bool counts_all =
        has_all_rows(dataset_) || (rows.rows() == dataset_.samples() && !dataset_.communicator());
    std::vector<std::string> others;
    for (const ColumnSentinel& each : columns.subspan(1)) {
      if (others.size() < kMaxNamed) {
        others.push_back(fmt::format("{} ({})", name(each.feature), each.sentinel.rows));
      }
    }
    if (columns.size() - 1 > kMaxNamed) {
      others.push_back(fmt::format("{} more columns", columns.size() - 1 - kMaxNamed));
    }
    warnings_.push_back(fmt::format(
        "{}: {} is {} in {}{} rows and from {:.6g} to {:.6g} in the others, so {} may stand for a "
        "missing value{}{}; {}",
        options_.file, name(columns.front().feature), found.value, found.rows,
        counts_all ? "" : fmt::format(" of the first {}", rows.rows()), low, high, found.value,
        others.empty() ? "" : ", also in ", enumerated(others, "and"),
        sentinel_advice(rows, columns)));
  }

  // How rows with the sentinel are left out. Another feature may have the value as a number.
  std::string sentinel_advice(const InspectedRows& rows,
                              std::span<const ColumnSentinel> columns) const {
    if (!remedies_.is_text()) {
      return fmt::format(
          "{} leaves such rows out if the cells are NaN",
          remedies_.names_keys() ? "'dataset.drop_missing: true'" : "--drop-missing");
    }
    const double value = columns.front().sentinel.value;
    const std::vector<std::string> text = {fmt::format("{}", value)};
    const std::string missing =
        remedies_.names_keys()
            ? fmt::format("'dataset.missing: [{}]' with 'dataset.drop_missing: true'",
                          yaml_list(text))
            : fmt::format("--missing={} with --drop-missing", text.front());
    for (std::int64_t j = 0; j < std::ssize(features_); ++j) {
      const bool is_known = std::any_of(columns.begin(), columns.end(),
                                        [&](const auto& each) { return each.feature == j; });
      if (is_known || !has_value(dataset_, rows, j, value)) continue;
      return fmt::format("{} leaves such rows out, but also those with {} in {}{}", missing, value,
                         name(j), advice_to_keep_rows(columns));
    }
    return missing + " leaves such rows out";
  }

  // How the rows are kept without the columns, if these may be left out.
  std::string advice_to_keep_rows(std::span<const ColumnSentinel> columns) const {
    if (has_model_features_) return {};
    std::vector<std::string> arguments;
    for (const ColumnSentinel& each : columns)
      arguments.push_back(remedies_.option_value(each.feature));
    return options_.columns.empty()
               ? fmt::format(", and {}",
                             remedies_.drop_advice(
                                 arguments, columns.size() == 1 ? "the column" : "the columns"))
               : fmt::format("; to keep them, {}", remedies_.choice_without(arguments));
  }

  // True for more integers than classes usually have.
  static bool may_be_quoted_numbers(const std::set<std::string_view>& classes) {
    constexpr std::size_t kMaxClasses = 20;
    return classes.size() > kMaxClasses &&
           std::all_of(classes.begin(), classes.end(), [](std::string_view text) {
             return text.find_first_not_of("0123456789-+. ") == std::string_view::npos;
           });
  }

  const std::vector<std::string>& names() const { return dataset_.feature_names; }

  bool named_as_identifier(std::int64_t feature) const {
    return !names().empty() && names_identifier(names()[static_cast<std::size_t>(feature)]);
  }

  std::string name(std::int64_t feature) const { return remedies_.name(feature); }

  bool is_rounded(std::int64_t feature) const {
    return !dataset_.rounding.empty() &&
           dataset_.rounding[static_cast<std::size_t>(feature)].error > 0;
  }

  // True if the values were no integers before they were rounded.
  bool has_fractions(std::int64_t feature) const {
    return !dataset_.rounding.empty() &&
           dataset_.rounding[static_cast<std::size_t>(feature)].has_fractions;
  }

  bool has_leading_zeros(std::int64_t feature) const {
    const std::vector<TextFeature>& texts = dataset_.text_features;
    if (texts.empty() || texts[static_cast<std::size_t>(feature)].leading_zeros.empty()) {
      return false;
    }
    // Some programs pad every number.
    return std::any_of(texts.begin(), texts.end(),
                       [](const TextFeature& text) { return text.leading_zeros.empty(); });
  }

  // Differences of such numbers are no times. The minimum is shown as it was before rounding.
  void flag_dates(std::int64_t feature) {
    const auto j = static_cast<std::size_t>(feature);
    covers_rounding_[j] = true;
    flag(feature,
         fmt::format(
             "{} holds dates as numbers, such as {}, whose differences are not days; "
             "convert them to days, or",
             name(feature),
             dataset_.rounding.empty() ? features_[j].minimum : dataset_.rounding[j].minimum),
         " ");
  }

  // Such integers are either identifiers, which must be left out, or times, which must be kept.
  void flag_rounded_integers(std::int64_t feature) {
    const auto j = static_cast<std::size_t>(feature);
    const FeatureRounding& rounding = dataset_.rounding[j];
    flagged_[j] = true;
    covers_rounding_[j] = true;
    const std::vector<RoundingLoss> losses = rounding_losses(dataset_.rounding, features_);
    const auto loss = std::find_if(losses.begin(), losses.end(), [&](const RoundingLoss& each) {
      return each.feature == feature && !each.exact_in_float64;
    });
    if (loss != losses.end()) {  // the sentence of rounding_warnings()
      warnings_.push_back(fmt::format("{}; if it is an identifier, {}",
                                      rounding_warning(options_.file, name(feature), *loss, ""),
                                      remedies_.drop_advice(feature)));
      return;
    }
    warnings_.push_back(fmt::format(
        "{}: {} looks like an identifier or a time: its integers have more digits than {} keeps; "
        "if it is a time, {}; if it is an identifier, {}",
        options_.file, name(feature), to_string(rounding.dtype),
        rounding.exact_in_float64 ? fmt::format("{} keeps its digits", remedies_.float64_option())
                                  : "subtract a constant before the file is written",
        remedies_.drop_advice(feature)));
  }

  bool looks_like_identifier(const InspectedRows& rows, std::int64_t feature) const {
    if (is_monotonic(rows, feature, is_rounded(feature))) return true;
    if (counts_samples(dataset_, rows, feature)) return true;
    const FeatureStatistics& statistics = features_[static_cast<std::size_t>(feature)];
    if (!named_as_identifier(feature) && !has_fixed_length(statistics)) return false;
    return is_rounded(feature) || are_distinct(rows, feature);
  }

  // `separator` stands between `what` and the advice.
  void flag(std::int64_t feature, const std::string& what, std::string_view separator = "; ") {
    flagged_[static_cast<std::size_t>(feature)] = true;
    warnings_.push_back(
        fmt::format("{}: {}{}{}", options_.file, what, separator, remedies_.drop_advice(feature)));
  }

  // Columns [first, end) of few integers whose name says that they are classes.
  void check_named_classes(std::size_t first, std::size_t end) {
    if (!dataset_.classes.empty() || !options_.label_column.empty() || names().empty()) return;
    for (std::size_t j = first; j < end; ++j) {
      if (flagged_[j] || !may_be_classes(features_[j]) || !names_classes(names()[j])) continue;
      const auto feature = static_cast<std::int64_t>(j);
      flag_classes(feature,
                   fmt::format("{} seems to hold classes: its values are integers from {} to {}",
                               name(feature), features_[j].minimum, features_[j].maximum));
    }
  }

  void flag_classes(std::int64_t feature, const std::string& what) {
    flagged_[static_cast<std::size_t>(feature)] = true;
    has_classes_ = true;
    std::string advice = remedies_.drop_advice(feature);
    if (remedies_.is_text()) {
      advice = fmt::format("{} compares the clusters with them, and {}",
                           remedies_.label_advice(feature), advice);
    }
    warnings_.push_back(fmt::format("{}: {}; {}", options_.file, what, advice));
  }

  void check_classes() {
    const std::size_t last = features_.size() - 1;
    // Beside classes of three or more, columns of 0 and 1 are indicators.
    const bool has_several = !has_classes_ && features_[last].maximum - features_[last].minimum > 1;
    const bool only_last =
        std::none_of(features_.begin(), features_.end() - 1, [&](const FeatureStatistics& feature) {
          const bool is_indicator = feature.minimum == 0 && feature.maximum == 1;
          return may_be_classes(feature) && !(has_several && is_indicator);
        });
    if (last == 0 || flagged_[last] || !only_last || !may_be_classes(features_[last])) return;
    if (!dataset_.classes.empty() || !options_.label_column.empty()) return;
    const auto feature = static_cast<std::int64_t>(last);
    flag_classes(
        feature,
        fmt::format("the last column, {}, holds only integers from {} to {}, as classes do",
                    name(feature), features_[last].minimum, features_[last].maximum));
  }

  // A first column of few integers in data without column names.
  void check_first_classes() {
    if (features_.size() < 2 || flagged_.front() || !names().empty()) return;
    if (!dataset_.classes.empty() || !options_.label_column.empty()) return;
    if (!may_be_classes(features_.front()) || has_fractions(0)) return;
    if (std::any_of(features_.begin() + 1, features_.end(), may_be_classes)) return;
    flag_classes(0, fmt::format("the first column holds only integers from {} to {}, as classes do",
                                features_.front().minimum, features_.front().maximum));
  }

  const Dataset& dataset_;
  const DataOptions& options_;
  Remedies remedies_;
  bool has_model_features_;
  const std::vector<FeatureStatistics>& features_;
  std::vector<bool> flagged_;
  std::vector<bool> covers_rounding_;
  bool has_classes_ = false;  // a column was flagged as classes
  std::vector<std::string> warnings_;
};

}  // namespace

std::vector<std::string> data_warnings(const Dataset& dataset, const DataOptions& options,
                                       bool standardized, Remedy remedy) {
  std::vector<std::string> warnings = header_warnings(dataset, options, remedy);
  for (std::string& warning : encoding_warnings(all_names(dataset), options)) {
    warnings.push_back(std::move(warning));
  }
  for (std::string& warning : unused_missing_warnings(dataset.unused_missing, options, remedy)) {
    warnings.push_back(std::move(warning));
  }
  Guards guards(dataset, options, remedy);
  guards.check_thousands();
  if (dataset.samples() >= kMinInspectedSamples) {
    if (options.columns.empty()) guards.check_columns();
    guards.check_totals();
    guards.check_sentinels();
    if (standardized) {
      guards.check_outliers();
    } else {
      guards.check_scales();
    }
    guards.check_text_classes();
  }
  for (std::string& warning : guards.take()) warnings.push_back(std::move(warning));
  std::vector<RoundingLoss> losses = rounding_losses(dataset.rounding, dataset.statistics());
  std::erase_if(losses,
                [&](const RoundingLoss& loss) { return guards.covers_rounding(loss.feature); });
  for (std::string& warning : rounding_warnings(losses, dataset.feature_names, options, remedy)) {
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

void warn_of_sentinels(const Dataset& dataset, const DataOptions& options) {
  if (dataset.samples() < kMinInspectedSamples) return;
  Guards guards(dataset, options, Remedy::option, true);
  guards.check_sentinels();
  note_warnings(guards.take());
}

void warn_of_header(const Dataset& dataset, const DataOptions& options) {
  note_warnings(header_warnings(dataset, options, Remedy::option));
  note_warnings(encoding_warnings(all_names(dataset), options));
  note_warnings(unused_missing_warnings(dataset.unused_missing, options, Remedy::option));
  Guards guards(dataset, options, Remedy::option);
  guards.check_thousands();
  note_warnings(guards.take());
}

void warn_of_header(const CopiedRows& copied, const DataOptions& options) {
  note_warnings(header_warnings(copied, options, Remedy::option));
  note_warnings(encoding_warnings(copied.feature_names, options));
  note_warnings(unused_missing_warnings(copied.unused_missing, options, Remedy::option));
}

void warn_of_rounding(std::span<const RoundingLoss> losses,
                      const std::vector<std::string>& feature_names, const DataOptions& options) {
  note_warnings(rounding_warnings(losses, feature_names, options));
}

}  // namespace lloyd::apps
