// Reads and writes NumPy's .npy files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// Reads an array of numbers with two dimensions, or with one (a single feature), in either byte
/// order, in C or Fortran order. float32 and float64 are kept; float16, booleans and integers of up
/// to 16 bits become float32; other integers become float64, rounded beyond 2^53. Aligned native
/// C-order data of float32 or float64 is memory-mapped; everything else is converted to C order. A
/// mapped file must not be truncated or changed in place while the matrix lives (replacing it is
/// fine): Dataset::check_unchanged() detects it. Throws InputError that names the file and the
/// defect. Format: numpy.lib.format, versions 1.0 to 3.0.
Matrix read_npy(const std::filesystem::path& file);

/// Reads a file as read_npy() does into a data set that is named after the file, and validates it
/// as Dataset does.
Dataset read_npy_dataset(const std::filesystem::path& file);

/// Writes a C-order array of rows x columns values, format version 1.0. All four functions throw
/// Error if writing fails; the file is then unchanged.
void write_npy(const std::filesystem::path& file, const Matrix& matrix);
/// Writes rows x columns values as float64.
void write_npy(const std::filesystem::path& file, std::span<const double> values,
               std::int64_t columns);
/// Writes n values as float64, in one dimension.
void write_npy(const std::filesystem::path& file, std::span<const double> values);
/// The header of an .npy file of n int32 labels; the labels follow it.
std::string npy_labels_header(std::int64_t labels);
/// Writes n labels as int32.
void write_npy(const std::filesystem::path& file, std::span<const std::int32_t> labels);

}  // namespace lloyd
