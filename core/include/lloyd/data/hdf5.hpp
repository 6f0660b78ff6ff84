// HDF5 files.
#pragma once

#include <filesystem>
#include <string>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// Whether this build reads and writes HDF5; without, what would do so throws InputError.
bool hdf5_supported();

/// Reads a data set of real or whole numbers with two dimensions, or one: one feature. `dataset` is
/// its path in the file; empty: the only one with two dimensions or, where there is none, the only
/// one with one. float32 and float64 are kept; floats of 16 bits and integers of up to 16 are read
/// as float32, all others as float64, rounded where that cannot hold them. Throws InputError with
/// the file and what is wrong.
Matrix read_hdf5(const std::filesystem::path& file, const std::string& dataset = "");

}  // namespace lloyd
