// Warnings about columns that make a clustering meaningless without making it fail.
#pragma once

#include <string>
#include <vector>

#include <lloyd/dataset.hpp>

#include "options/data_options.hpp"

namespace lloyd::apps {

/// One sentence for each suspicious column of data that was read with `options`, with the option
/// that helps:
/// - a first column that has no name, or counts the rows from 0 or 1;
/// - a column of integers that looks like an identifier: all of the inspected values are distinct,
///   and they either ascend or descend or the column's name is that of an identifier;
/// - a last column that looks like class numbers, if no other column does: integers in an interval
///   of at most 20 that begins at -1, 0 or 1;
/// - standard deviations that differ by a factor of 1000 or more, unless `standardized`.
/// The first three are left out if --columns chose the columns. Values are inspected in the first
/// 1000 rows (fewer if they are long); data sets of fewer than 10 samples are not inspected. Reads
/// these rows if the data set is not in memory, and throws what reading throws.
std::vector<std::string> data_warnings(const Dataset& dataset, const DataOptions& options,
                                       bool standardized);

}  // namespace lloyd::apps
