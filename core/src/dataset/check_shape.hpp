// Refuses matrices whose values cannot be addressed, and metadata that do not fit them.
#pragma once

#include <cstdint>
#include <string>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// Throws InputError, naming the data set, unless the matrix has rows and columns, a stride of at
/// least its columns, and a number of bytes that fits into 64 bits.
void check_shape(const std::string& name, const Matrix& matrix);

/// Throws InputError, naming the data set, if the matrix has no values.
void check_values_given(const std::string& name, const Matrix& matrix);

/// Throws InputError if `pointer`, an argument `name` for n x d values, is null. Accepts null
/// if n < 1 or d < 1, for which the message of check_shape() is better.
void check_pointer(const char* name, const void* pointer, std::int64_t n, std::int64_t d);

/// Throws InputError if the samples are in device memory. `work` is the subject of the message, for
/// example "standardization".
void require_host_memory(const Dataset& dataset, const char* work);

/// Throws InputError unless the data set has no classes, or one for each sample.
void check_classes(const Dataset& dataset);

/// Throws InputError unless the data set has no feature names, or one for each feature.
void check_feature_names(const Dataset& dataset);

}  // namespace lloyd
