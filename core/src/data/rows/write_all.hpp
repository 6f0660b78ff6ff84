// write_all: writes a data set with a row writer.
#pragma once

#include <lloyd/data/row_writer.hpp>
#include <lloyd/dataset.hpp>

namespace lloyd {

/// The table of a data set. Throws InputError for a data set that was moved from or is in device
/// memory, and for classes or feature names of the wrong number.
TableFormat table_format(const Dataset& dataset);
/// Writes all rows, block by block if they are not in memory, and commits. Throws Error.
void write_all(RowWriter& writer, const Dataset& dataset);

}  // namespace lloyd
