// Views of a row source: chosen columns or rows, rows without missing values, standardized
// features. All functions throw InputError for a null source, and read() of the views throws it for
// rows that do not exist.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <lloyd/data/row_source.hpp>
#include <lloyd/dataset.hpp>
#include <lloyd/standardize.hpp>

namespace lloyd {

/// The features `columns` (from 0, each below d) of a source, in this order. Reading a block takes
/// up to 8 MiB (or one row, if that is larger) more memory than reading it from the source. Throws
/// InputError if `columns` is empty or has a number that is out of range.
std::unique_ptr<RowSource> select_columns(std::shared_ptr<const RowSource> source,
                                          std::vector<std::int64_t> columns);

/// Consecutive rows of a source, counted from 0 in the view. Throws InputError unless `rows` are at
/// least one and rows of the source.
std::unique_ptr<RowSource> select_rows(std::shared_ptr<const RowSource> source, RowRange rows);

/// The rows of a source that have no NaN, in the same order. The call reads the source once to find
/// them; `stop` is polled between blocks. Memory: up to 24 bytes per run of consecutive such rows.
/// Throws InputError if every row has a NaN, and Cancelled if `stop` returns true. Unless null,
/// `dropped` receives the numbers of the other rows, ascending, and `missing` for each feature the
/// number of NaNs (d entries).
std::unique_ptr<RowSource> complete_rows(std::shared_ptr<const RowSource> source,
                                         const StopFunction& stop = {},
                                         std::vector<std::int64_t>* dropped = nullptr,
                                         std::vector<std::int64_t>* missing = nullptr);

/// The samples of a source, standardized: (x - mean) / deviation in float64, rounded to the data
/// type of the source. Throws InputError unless the map is valid (Standardization::check()) and has
/// as many features as the source.
std::unique_ptr<RowSource> standardize(std::shared_ptr<const RowSource> source,
                                       Standardization map);

/// Reads all rows into memory. Throws InputError if they cannot be read or need more memory than
/// there is.
Matrix matrix_of(const RowSource& source);

/// The same as a data set, with RowSource::rounding(). Throws what matrix_of() and Dataset throw.
Dataset dataset_of(const RowSource& source);

}  // namespace lloyd
