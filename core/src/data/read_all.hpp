// read_all: a row source as a matrix in memory.
#pragma once

#include <lloyd/data/row_source.hpp>
#include <lloyd/dataset.hpp>

namespace lloyd {

/// Throws InputError when it cannot be read, or needs more memory than there is.
Matrix read_all(const RowSource& source);

}  // namespace lloyd
