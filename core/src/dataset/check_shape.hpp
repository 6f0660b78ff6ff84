// Refuses matrices whose values cannot be addressed.
#pragma once

#include <string>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// Throws InputError, naming the data set, unless the matrix has rows and columns, a stride of at
/// least its columns, and a number of bytes that fits into 64 bits.
void check_shape(const std::string& name, const Matrix& matrix);

/// Throws InputError, naming the data set, if the matrix has no values.
void check_values_given(const std::string& name, const Matrix& matrix);

}  // namespace lloyd
