// Reads HDF5 files.
#pragma once

#include <filesystem>
#include <string>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// True if this build supports HDF5. Otherwise reading and writing throw InputError.
bool hdf5_supported();

/// Reads a numeric data set with two dimensions, or with one: a single feature. `dataset` is its
/// path in the file; if empty, the only two-dimensional data set or, if there is none, the only
/// one-dimensional one. float32 and float64 keep their type; 16-bit floats and integers of up to 16
/// bits become float32, all others float64, rounded if necessary. Throws InputError that names the
/// file and the defect.
Matrix read_hdf5(const std::filesystem::path& file, const std::string& dataset = "");

}  // namespace lloyd
