// Reads HDF5 files.
#pragma once

#include <filesystem>
#include <string>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin_folder.hpp>

namespace lloyd {

/// A module that contains the HDF5 library.
struct Hdf5Module {
  std::filesystem::path file;  ///< absolute
  std::string version;         ///< of the HDF5 that it was built with, such as "1.10.8"
};

/// The module liblloyd_hdf5.so of this build, in the first of Registry::default_folders() that has
/// it. The module is checked but not loaded; the first read or write of an HDF5 file loads it.
/// Throws an InputError that says where the module was searched for, why it is refused, or that
/// this build has no HDF5; so do reading and writing.
Hdf5Module find_hdf5_module();

/// True if find_hdf5_module() finds the module.
bool hdf5_supported();

/// Reads a numeric data set with two dimensions, or with one: a single feature. `dataset` is its
/// path in the file; if empty, the only two-dimensional data set or, if there is none, the only
/// one-dimensional one. float32 and float64 keep their type; 16-bit floats and integers of up to 16
/// bits become float32, all others float64, rounded if necessary. Throws InputError that names the
/// file and the defect.
Matrix read_hdf5(const std::filesystem::path& file, const std::string& dataset = "");

}  // namespace lloyd
