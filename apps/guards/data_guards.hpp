// Warnings about columns that make a clustering meaningless without making it fail.
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

/// One sentence for each suspicious column of data that was read with `options`, with the remedy:
/// - text without --header and --no-header whose first row was taken as a sample, but is a sequence
///   of years such as 2021, 2022, 2023, while no other row has only years;
/// - a name of a text file that is not UTF-8, with a command that converts Latin-1;
/// - a first column that has no name, or counts the rows from 0 or 1;
/// - a column of integers that looks like an identifier: all of the inspected values are distinct
///   (not required if rounding changed some), and they either ascend or descend, or are 1 to n in
///   any order (of at least 50 samples), or have the same number of digits (7 or more), or the
///   column's name is that of an identifier; if rounding changed some, the sentence has one remedy
///   for times and one for identifiers, and replaces that of rounding_warnings(), except for
///   integers that float64 distorts, where it is that sentence with the remedy for identifiers;
/// - dates and months as integers, YYYYMMDD and YYYYMM;
/// - a last column, or a first column of data without column names, that looks like class numbers,
///   if no other column does: integers in an interval of at most 20 that begins at -1, 0 or 1
///   (beside a last column of more than two, columns of 0 and 1 do not count);
/// - one sentence for each value, such as -999, that stands for missing ones in a feature, with all
///   of these features: see find_sentinel();
/// - standard deviations that differ by a factor of 100 or more, unless `standardized`;
/// - if `standardized`, a feature with a value so far from the others that, in standard deviations,
///   these deviate by less than 0.01, for at least 20 samples and three distinct values;
/// - a last column of text that was taken as classes without --label-column, if more than half of
///   the first 1000 classes are distinct, as names and identifiers are;
/// - those of rounding_warnings() about the other columns.
/// Those about single columns are left out if --columns chose the columns. Values are inspected in
/// the first 1000 rows (fewer if they are long); data sets of fewer than 10 samples are only
/// inspected for years and rounding. Reads these rows if the data set is not in memory, and throws
/// what reading throws.
std::vector<std::string> data_warnings(const Dataset& dataset, const DataOptions& options,
                                       bool standardized, Remedy remedy = Remedy::option);

/// Prints a line on standard error for each value that stands for missing ones in samples that a
/// model will label. Does not advise to leave a feature out: the model needs all. Reads as
/// data_warnings() does.
void warn_of_sentinels(const Dataset& dataset, const DataOptions& options);
/// Prints a line on standard error if the first sample of a text file looks like a header of
/// numbers, one if a name is not UTF-8, and one for each text of --missing that no cell has.
void warn_of_header(const Dataset& dataset, const DataOptions& options);
/// The same for a converted file.
void warn_of_header(const CopiedRows& copied, const DataOptions& options);
/// Prints a line on standard error for each of the rounding_warnings().
void warn_of_rounding(std::span<const RoundingLoss> losses,
                      const std::vector<std::string>& feature_names, const DataOptions& options);

}  // namespace lloyd::apps
