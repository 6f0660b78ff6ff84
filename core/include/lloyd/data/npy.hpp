// NumPy's .npy files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// Reads a 2-D (or 1-D: one feature) array of float32 or float64, in either byte order, C or
/// Fortran order. Native C-order data of suitable alignment stays in the file, memory-mapped; the
/// rest is converted to C order. A mapped file must not be cut or changed in place while the matrix
/// lives (replacing it is fine): Dataset::check_unchanged() says when it was. Throws InputError
/// with the file and what is wrong. Format: numpy.lib.format, versions 1.0 to 3.0.
Matrix read_npy(const std::filesystem::path& file);

/// Reads as read_npy and checks as Dataset does; the name is the file's.
Dataset read_npy_dataset(const std::filesystem::path& file);

/// Write a C-order array, version 1.0: rows x columns, and n labels. Throw Error when that fails;
/// the file then is what it was before.
void write_npy(const std::filesystem::path& file, const Matrix& matrix);
/// rows x columns values, as float64.
void write_npy(const std::filesystem::path& file, std::span<const double> values,
               std::int64_t columns);
/// n labels, as int32.
void write_npy(const std::filesystem::path& file, std::span<const std::int32_t> labels);

}  // namespace lloyd
