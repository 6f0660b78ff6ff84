// Finds the data set to read in an HDF5 file.
#pragma once

#include <string>

#include "data/hdf5/hdf5_library.hpp"

namespace lloyd {

/// Opens the data set at a path in the file or, if the path is empty, the only candidate, see
/// read_hdf5(). Opens no other file: virtual data sets and external links are refused. The caller
/// holds a Hdf5Lock. `path` is the file's path for messages. Throws InputError.
Hdf5Handle find_hdf5_dataset(const std::string& path, const Hdf5Handle& file,
                             const std::string& dataset);

}  // namespace lloyd
