// Loads the module with the HDF5 library.
#pragma once

#include <string>

#include "data/hdf5/hdf5_table.hpp"

namespace lloyd {

/// The functions of the HDF5 library. The first call loads the module that find_hdf5_module()
/// names. Throws an InputError that says why this is not possible.
const Hdf5Table& hdf5();

/// Calls hdf5(). The message of an InputError begins with `path`, the file that needs the library.
void require_hdf5(const std::string& path);

}  // namespace lloyd
