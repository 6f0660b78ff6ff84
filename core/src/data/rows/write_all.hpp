// write_all: writes a data set in memory with a row writer.
#pragma once

#include <lloyd/data/row_writer.hpp>
#include <lloyd/dataset.hpp>

namespace lloyd {

TableFormat table_format(const Dataset& dataset);
/// Writes all rows and commits. Throws Error.
void write_all(RowWriter& writer, const Dataset& dataset);

}  // namespace lloyd
