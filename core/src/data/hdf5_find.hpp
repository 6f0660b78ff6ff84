// Which data set of an HDF5 file is read.
#pragma once

#include <string>

#include "data/hdf5_library.hpp"

namespace lloyd {

/// Opens the data set at a path in the file, or with an empty path the only one there is to choose,
/// as read_hdf5 says. Opens no other file: refuses virtual data sets and external links. Needs a
/// Hdf5Lock. `path` is the file's, for messages. Throws InputError.
Hdf5Handle find_hdf5_dataset(const std::string& path, const Hdf5Handle& file,
                             const std::string& dataset);

}  // namespace lloyd
