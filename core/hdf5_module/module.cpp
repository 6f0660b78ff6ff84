// The module liblloyd_hdf5.so: libhdf5 for the core, which loads the module when it first opens an
// HDF5 file.
#include "data/hdf5/hdf5_table.hpp"

namespace {

// A data file names the filters that it needs, and the library loads missing ones from the folders
// of HDF5_PLUGIN_PATH. Relative folders are removed, because they would be resolved in the working
// directory.
void remove_relative_plugin_folders() {
  unsigned count = 0;
  if (H5PLsize(&count) < 0) return;
  while (count > 0) {
    char start[2] = {};
    --count;
    if (H5PLget(count, start, sizeof(start)) < 0 || start[0] != '/') H5PLremove(count);
  }
}

#define LLOYD_HDF5_FUNCTION(function) ::function,
#define LLOYD_HDF5_CONSTANT(type, name, value) +[]() -> type { return value; },
constexpr lloyd::Hdf5Table kTable = {LLOYD_HDF5_FUNCTIONS(LLOYD_HDF5_FUNCTION)
                                         LLOYD_HDF5_CONSTANTS(LLOYD_HDF5_CONSTANT)};

}  // namespace

#define LLOYD_EXPORTED extern "C" __attribute__((visibility("default"), used))

LLOYD_EXPORTED __attribute__((section(LLOYD_HDF5_SECTION)))
const lloyd::Hdf5ModuleHeader kLloydHdf5Header = lloyd::kHdf5ModuleHeader;

LLOYD_EXPORTED const lloyd::Hdf5Table* lloyd_hdf5_table() {
  // If a file could not be written in full, the library tries again in its exit handler, and
  // crashes. The core closes everything that it opens, so the handler is disabled. That has no
  // effect if the process used the library before.
  H5dont_atexit();
  if (H5open() < 0) return nullptr;
  remove_relative_plugin_folders();
  return &kTable;
}
