// Remedies: the texts of warnings about data that say what mends them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/dataset.hpp>

#include "options/data_options.hpp"

namespace lloyd::apps {

/// What a warning names as its remedy: an option of the command line, or a key of an experiment.
enum class Remedy { option, key };

/// "'height'", or "column 3" without a name that only this feature has. `names`: d or none.
std::string column_text(const std::vector<std::string>& names, const DataOptions& options,
                        std::int64_t feature);

/// The option or key that reads numbers of text as float64.
std::string_view float64_option(Remedy remedy);

/// Remedies for the columns of a data set that was read with some options.
class Remedies {
 public:
  /// `dataset` and `options` must outlive this object.
  Remedies(const Dataset& dataset, const DataOptions& options, Remedy remedy)
      : dataset_(dataset), options_(options), remedy_(remedy) {}

  /// True if they name keys of an experiment.
  bool names_keys() const { return remedy_ == Remedy::key; }
  /// True if the data was read from text.
  bool is_text() const;
  /// float64_option() of this remedy.
  std::string_view float64_option() const { return apps::float64_option(remedy_); }
  /// column_text() of a feature.
  std::string name(std::int64_t feature) const;
  /// The value of an option that chooses the column of a feature.
  std::string option_value(std::int64_t feature) const;

  /// How a feature is left out. `what`: what it is called in the sentence.
  std::string drop_advice(std::int64_t feature, std::string_view what = "it") const;
  /// How columns, given as values of an option, are left out.
  std::string drop_advice(const std::vector<std::string>& columns, std::string_view what) const;
  /// How columns are left out of --columns, for data whose columns --columns chose.
  std::string choice_without(const std::vector<std::string>& columns) const;
  /// How a column becomes a feature besides the others.
  std::string choice_with(const std::string& column) const;
  /// How a feature becomes the column of classes.
  std::string label_advice(std::int64_t feature) const;
  /// How the line of the last sample is left out.
  std::string advice_on_last_row() const;

 private:
  const std::vector<std::string>& names() const { return dataset_.feature_names; }

  const Dataset& dataset_;
  const DataOptions& options_;
  Remedy remedy_;
};

}  // namespace lloyd::apps
