// read_all: reads a row source into memory.
#pragma once

#include <lloyd/data/row_source.hpp>
#include <lloyd/dataset.hpp>

namespace lloyd {

/// Reads all rows. Throws InputError if they cannot be read or need more memory than there is.
Matrix read_all(const RowSource& source);

/// The same as a data set, with RowSource::rounding(). Throws what read_all() and Dataset throw.
Dataset read_whole(const RowSource& source);

}  // namespace lloyd
