#include "guards/data_guards.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/internal/column_argument.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/json_text.hpp>
#include <lloyd/internal/shell_word.hpp>
#include <lloyd/internal/shown.hpp>

#include "guards/inspected_rows.hpp"
#include "guards/totals_row.hpp"
#include "options/option_names.hpp"
#include "output/output.hpp"
#include "text/names.hpp"

namespace lloyd::apps {
namespace {

constexpr double kMaxScaleRatio = 100;

// One warning if the first sample of text without column names looks like a header of numbers.
template <class Data>
std::vector<std::string> header_warnings(const Data& data, std::int64_t features,
                                         const DataOptions& options, Remedy remedy) {
  if (find_format(options.file) != FileFormat::csv || options.header || options.no_header ||
      !data.feature_names.empty()) {
    return {};
  }
  const InspectedRows rows(data);
  if (!has_numeric_header(rows, features)) return {};
  return {fmt::format(
      "{}: the first row, {}{}{}, looks like a header, but is taken as a sample; {} takes it as "
      "names, {} says that it is a sample",
      options.file, rows.at(0, 0), features > 1 ? fmt::format(", {}", rows.at(0, 1)) : "",
      features > 2 ? ", ..." : "", remedy == Remedy::key ? "'dataset.header: true'" : "--header",
      remedy == Remedy::key ? "'dataset.header: false'" : "--no-header")};
}

// One warning if a name of a text file is not UTF-8. Such names are kept as they are, and read as
// Latin-1 where models and JSON need characters.
std::vector<std::string> encoding_warnings(const std::vector<std::string>& names,
                                           const DataOptions& options) {
  if (find_format(options.file) != FileFormat::csv) return {};
  const auto name = std::find_if(names.begin(), names.end(),
                                 [](const std::string& text) { return utf8_text(text) != text; });
  if (name == names.end()) return {};
  const bool compressed = lower_case_extension(options.file).ends_with(".gz");
  // Latin-1 has only control characters where Windows-1252 has the euro sign and quotation marks.
  const bool is_windows = std::any_of(names.begin(), names.end(), [](const std::string& text) {
    return utf8_text(text) != text && std::any_of(text.begin(), text.end(), [](char c) {
             return static_cast<unsigned char>(c) >= 0x80 && static_cast<unsigned char>(c) < 0xa0;
           });
  });
  const char* const command = is_windows ? "iconv -f cp1252 -t utf-8" : "iconv -f latin1 -t utf-8";
  const std::string file = shell_word(options.file);
  return {fmt::format("{}: the name '{}' is not UTF-8; if the file is {}, {} > NEW.csv converts it",
                      options.file, shown(*name), is_windows ? "Windows-1252" : "Latin-1",
                      compressed ? fmt::format("gunzip -c {} | {}", file, command)
                                 : fmt::format("{} {}", command, file))};
}

// The names of the features and of the classes.
std::vector<std::string> all_names(const Dataset& dataset) {
  std::vector<std::string> names = dataset.feature_names;
  names.push_back(dataset.class_name);
  return names;
}

// One sentence for each text of --missing that no cell has.
std::vector<std::string> unused_missing_warnings(const std::vector<std::string>& texts,
                                                 const DataOptions& options, Remedy remedy) {
  std::vector<std::string> warnings;
  for (const std::string& text : texts) {
    warnings.push_back(fmt::format(
        "{}: {} has '{}', but no cell of a feature has this text; check its spelling", options.file,
        remedy == Remedy::key ? "'dataset.missing'" : "--missing", shown(text)));
  }
  return warnings;
}

// "'height'", or "column 3" without a name that only this feature has.
std::string column_text(const std::vector<std::string>& names, const DataOptions& options,
                        std::int64_t feature) {
  const std::string text = names.empty() ? "" : names[static_cast<std::size_t>(feature)];
  return text.empty() || std::count(names.begin(), names.end(), text) > 1
             ? fmt::format("column {}", options.column_of(feature))
             : fmt::format("'{}'", shown(text));
}

std::string_view float64_option(Remedy remedy) {
  return remedy == Remedy::key ? "'dataset.dtype: float64'" : "--dtype float64";
}

// `float64_advice`: how text is read as float64.
std::string rounding_warning(const std::string& file, const std::string& feature,
                             const RoundingLoss& loss, const std::string& float64_advice) {
  const std::string effect =
      loss.deviation == 0 ? "which makes them equal"
                          : fmt::format("while its standard deviation is {:.3g}", loss.deviation);
  const std::string advice =
      loss.exact_in_float64
          ? float64_advice
          : "float64 holds integers up to 2^53, so subtract a constant from them, such as their "
            "minimum, before the file is written";
  return fmt::format("{}: rounding to {} changes the values of {} by up to {:.3g}, {}; {}", file,
                     to_string(loss.dtype), feature, loss.error, effect, advice);
}

class Guards {
 public:
  // `has_model_features`: the features are those of a model, so none may be left out.
  Guards(const Dataset& dataset, const DataOptions& options, Remedy remedy,
         bool has_model_features = false)
      : dataset_(dataset),
        options_(options),
        remedy_(remedy),
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
          remedy_ == Remedy::key ? "'dataset.thousands: \".\"' reads them so"
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
                    options_.file, dataset_.samples() - 1, what, advice_on_last_row()));
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
        remedy_ == Remedy::key ? "'dataset.standardize: true'" : "--standardize"));
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
          options_.columns.empty() ? "; " + drop_advice(column, "the feature")
                                   : ", or " + choice_without({option_value(column)})));
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
          options_.file, distinct.size(), rows, choice_with(column)));
      return;
    }
    if (distinct.size() <= rows / 2) return;
    warnings_.push_back(fmt::format(
        "{}: the last column is text and is taken as classes, but {} of the first {} values are "
        "distinct, as names are; {}",
        options_.file, distinct.size(), rows, drop_advice({column}, "it")));
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
    if (!is_text()) {
      return fmt::format(
          "{} leaves such rows out if the cells are NaN",
          remedy_ == Remedy::key ? "'dataset.drop_missing: true'" : "--drop-missing");
    }
    const double value = columns.front().sentinel.value;
    const std::vector<std::string> text = {fmt::format("{}", value)};
    const std::string missing =
        remedy_ == Remedy::key
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
    for (const ColumnSentinel& each : columns) arguments.push_back(option_value(each.feature));
    return options_.columns.empty()
               ? fmt::format(
                     ", and {}",
                     drop_advice(arguments, columns.size() == 1 ? "the column" : "the columns"))
               : fmt::format("; to keep them, {}", choice_without(arguments));
  }

  // True for more integers than classes usually have.
  static bool may_be_quoted_numbers(const std::set<std::string_view>& classes) {
    constexpr std::size_t kMaxClasses = 20;
    return classes.size() > kMaxClasses &&
           std::all_of(classes.begin(), classes.end(), [](std::string_view text) {
             return text.find_first_not_of("0123456789-+. ") == std::string_view::npos;
           });
  }

  // How the column becomes a feature besides the others.
  std::string choice_with(const std::string& column) const {
    constexpr std::size_t kMaxNamed = 10;
    const bool by_key = remedy_ == Remedy::key;
    if (features_.size() > kMaxNamed) {
      return fmt::format("{} reads the columns that it names as numbers",
                         by_key ? "'dataset.columns'" : "--columns");
    }
    std::vector<std::string> columns;
    for (std::int64_t j = 0; j < std::ssize(features_); ++j) columns.push_back(option_value(j));
    columns.push_back(column);
    return by_key ? fmt::format("'dataset.columns: [{}]' reads it as numbers", yaml_list(columns))
                  : fmt::format("--columns{} reads it as numbers", option_list(columns));
  }

  // How the line of the last sample is left out.
  std::string advice_on_last_row() const {
    const std::vector<std::int64_t>& dropped = dataset_.dropped_row_numbers;
    const std::int64_t rows = dataset_.samples() + dataset_.dropped_rows;
    const bool ends_file = dropped.empty() ? dataset_.dropped_rows == 0 : dropped.back() < rows - 1;
    if (!ends_file || !is_text() || lower_case_extension(options_.file).ends_with(".gz")) {
      return "leave it out";
    }
    const std::string file = shell_word(options_.file);
    const std::optional<std::int64_t> blank = count_blank_lines_at_end(options_.file);
    if (!blank) return "leave it out";
    return *blank == 0 ? fmt::format("sed '$d' {} > NEW.csv leaves it out", file)
                       : fmt::format("head -n -{} {} > NEW.csv leaves it out with the {} below it",
                                     *blank + 1, file, format_count(*blank, "blank line"));
  }

  const std::vector<std::string>& names() const { return dataset_.feature_names; }

  bool named_as_identifier(std::int64_t feature) const {
    return !names().empty() && names_identifier(names()[static_cast<std::size_t>(feature)]);
  }

  std::string name(std::int64_t feature) const { return column_text(names(), options_, feature); }

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
                                      drop_advice(feature)));
      return;
    }
    warnings_.push_back(fmt::format(
        "{}: {} looks like an identifier or a time: its integers have more digits than {} keeps; "
        "if it is a time, {}; if it is an identifier, {}",
        options_.file, name(feature), to_string(rounding.dtype),
        rounding.exact_in_float64 ? fmt::format("{} keeps its digits", float64_option(remedy_))
                                  : "subtract a constant before the file is written",
        drop_advice(feature)));
  }

  bool looks_like_identifier(const InspectedRows& rows, std::int64_t feature) const {
    if (is_monotonic(rows, feature, is_rounded(feature))) return true;
    if (counts_samples(dataset_, rows, feature)) return true;
    const FeatureStatistics& statistics = features_[static_cast<std::size_t>(feature)];
    if (!named_as_identifier(feature) && !has_fixed_length(statistics)) return false;
    return is_rounded(feature) || are_distinct(rows, feature);
  }

  // The value of an option that chooses the column.
  std::string option_value(std::int64_t feature) const {
    return column_argument(names(), static_cast<std::size_t>(feature), options_.column_of(feature));
  }

  // `separator` stands between `what` and the advice.
  void flag(std::int64_t feature, const std::string& what, std::string_view separator = "; ") {
    flagged_[static_cast<std::size_t>(feature)] = true;
    warnings_.push_back(
        fmt::format("{}: {}{}{}", options_.file, what, separator, drop_advice(feature)));
  }

  bool is_text() const { return find_format(options_.file) == FileFormat::csv; }

  // `what`: what the column is called in the sentence.
  std::string drop_advice(std::int64_t feature, std::string_view what = "it") const {
    return drop_advice(std::vector<std::string>{option_value(feature)}, what);
  }
  std::string drop_advice(const std::vector<std::string>& columns, std::string_view what) const {
    // Those that are left out already must be named too.
    std::vector<std::string> arguments = options_.drop_columns;
    arguments.insert(arguments.end(), columns.begin(), columns.end());
    const std::string option = fmt::format("--drop-columns{}", option_list(arguments));
    if (remedy_ == Remedy::option) return fmt::format("{} leaves {} out", option, what);
    return is_text() ? fmt::format("'dataset.drop_columns: [{}]' leaves {} out",
                                   yaml_list(arguments), what)
                     : fmt::format("'lloyd data convert {}' leaves {} out", option, what);
  }

  // The counterpart of drop_advice() if --columns, which excludes --drop-columns, chose the
  // columns.
  std::string choice_without(const std::vector<std::string>& columns) const {
    return fmt::format("leave {} out of {}", enumerated(columns, "and"),
                       remedy_ == Remedy::key ? "'dataset.columns'" : "--columns");
  }

  std::string label_advice(std::int64_t feature) const {
    const std::string value = option_value(feature);
    return remedy_ == Remedy::key ? fmt::format("'dataset.label_column: {}'", yaml_list({value}))
                                  : fmt::format("--label-column{}", option_list({value}));
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
    std::string advice = drop_advice(feature);
    if (is_text()) {
      advice =
          fmt::format("{} compares the clusters with them, and {}", label_advice(feature), advice);
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
  Remedy remedy_;
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
  std::vector<std::string> warnings = header_warnings(dataset, dataset.features(), options, remedy);
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

std::vector<std::string> rounding_warnings(std::span<const RoundingLoss> losses,
                                           const std::vector<std::string>& feature_names,
                                           const DataOptions& options, Remedy remedy) {
  const std::string advice = fmt::format("{} keeps the values", float64_option(remedy));
  std::vector<std::string> warnings;
  for (const RoundingLoss& loss : losses) {
    warnings.push_back(rounding_warning(
        options.file, column_text(feature_names, options, loss.feature), loss, advice));
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
  note_warnings(header_warnings(dataset, dataset.features(), options, Remedy::option));
  note_warnings(encoding_warnings(all_names(dataset), options));
  note_warnings(unused_missing_warnings(dataset.unused_missing, options, Remedy::option));
  Guards guards(dataset, options, Remedy::option);
  guards.check_thousands();
  note_warnings(guards.take());
}

void warn_of_header(const CopiedRows& copied, const DataOptions& options) {
  note_warnings(header_warnings(copied, copied.features, options, Remedy::option));
  note_warnings(encoding_warnings(copied.feature_names, options));
  note_warnings(unused_missing_warnings(copied.unused_missing, options, Remedy::option));
}

void warn_of_rounding(std::span<const RoundingLoss> losses,
                      const std::vector<std::string>& feature_names, const DataOptions& options) {
  note_warnings(rounding_warnings(losses, feature_names, options));
}

}  // namespace lloyd::apps
