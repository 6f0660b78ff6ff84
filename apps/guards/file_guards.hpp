// Warnings about a data file: its first line, its encoding, and what was rounded while it was read.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <lloyd/data/copy_rows.hpp>
#include <lloyd/dataset.hpp>
#include <lloyd/rounding.hpp>

#include "guards/remedies.hpp"
#include "options/data_options.hpp"

namespace lloyd::apps {

/// At most one sentence: the first sample of text without column names looks like a header of
/// numbers.
std::vector<std::string> header_warnings(const Dataset& dataset, const DataOptions& options,
                                         Remedy remedy);
/// The same for a converted file.
std::vector<std::string> header_warnings(const CopiedRows& copied, const DataOptions& options,
                                         Remedy remedy);

/// At most one sentence: a name of a text file is not UTF-8. Such names are kept as they are, and
/// read as Latin-1 where models and JSON need characters.
std::vector<std::string> encoding_warnings(const std::vector<std::string>& names,
                                           const DataOptions& options);

/// One sentence for each text of --missing that no cell has.
std::vector<std::string> unused_missing_warnings(const std::vector<std::string>& texts,
                                                 const DataOptions& options, Remedy remedy);

/// How rounding changes a feature, which is called `feature` in the sentence. `float64_advice`: how
/// text is read as float64.
std::string rounding_warning(const std::string& file, const std::string& feature,
                             const RoundingLoss& loss, const std::string& float64_advice);

/// One sentence for each feature that rounding distorts, with what helps; `losses` and
/// `feature_names` (d entries or none) are those of a file that was read with `options`.
std::vector<std::string> rounding_warnings(std::span<const RoundingLoss> losses,
                                           const std::vector<std::string>& feature_names,
                                           const DataOptions& options,
                                           Remedy remedy = Remedy::option);

}  // namespace lloyd::apps
