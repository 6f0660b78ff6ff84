// The interface between the core and the module liblloyd_hdf5.so. The module is linked to libhdf5,
// the core is not: it calls the library through the module's table.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string_view>

// The functions of the library that the core calls. The members of Hdf5Table, their values in the
// module, and the fingerprint in the module's header are generated from this list and the next one.
#define LLOYD_HDF5_FUNCTIONS(ENTRY) \
  ENTRY(H5Dclose)                   \
  ENTRY(H5Dcreate2)                 \
  ENTRY(H5Dget_create_plist)        \
  ENTRY(H5Dget_num_chunks)          \
  ENTRY(H5Dget_space)               \
  ENTRY(H5Dget_storage_size)        \
  ENTRY(H5Dget_type)                \
  ENTRY(H5Dopen2)                   \
  ENTRY(H5Dread)                    \
  ENTRY(H5Dset_extent)              \
  ENTRY(H5Dwrite)                   \
  ENTRY(H5Eget_auto2)               \
  ENTRY(H5Eset_auto2)               \
  ENTRY(H5Ewalk2)                   \
  ENTRY(H5Fclose)                   \
  ENTRY(H5Fcreate)                  \
  ENTRY(H5Fget_vfd_handle)          \
  ENTRY(H5Fopen)                    \
  ENTRY(H5Iget_type)                \
  ENTRY(H5Lvisit)                   \
  ENTRY(H5Oclose)                   \
  ENTRY(H5Oopen)                    \
  ENTRY(H5Pclose)                   \
  ENTRY(H5Pcreate)                  \
  ENTRY(H5Pget_chunk)               \
  ENTRY(H5Pget_external_count)      \
  ENTRY(H5Pget_layout)              \
  ENTRY(H5Pget_nfilters)            \
  ENTRY(H5Pset_chunk)               \
  ENTRY(H5Pset_elink_cb)            \
  ENTRY(H5Sclose)                   \
  ENTRY(H5Scopy)                    \
  ENTRY(H5Screate_simple)           \
  ENTRY(H5Sget_simple_extent_dims)  \
  ENTRY(H5Sget_simple_extent_ndims) \
  ENTRY(H5Sselect_hyperslab)        \
  ENTRY(H5Tclose)                   \
  ENTRY(H5Tget_class)               \
  ENTRY(H5Tget_sign)                \
  ENTRY(H5Tget_size)

// Constants of the library whose macros read variables or call functions: type, member, value. The
// members are functions, because the values change if other code in the process closes the library.
#define LLOYD_HDF5_CONSTANTS(ENTRY)                        \
  ENTRY(unsigned, read_only, H5F_ACC_RDONLY)               \
  ENTRY(unsigned, truncate, H5F_ACC_TRUNC)                 \
  ENTRY(hid_t, dataset_access_class, H5P_DATASET_ACCESS)   \
  ENTRY(hid_t, dataset_creation_class, H5P_DATASET_CREATE) \
  ENTRY(hid_t, native_float, H5T_NATIVE_FLOAT)             \
  ENTRY(hid_t, native_double, H5T_NATIVE_DOUBLE)           \
  ENTRY(hid_t, native_int64, H5T_NATIVE_INT64)             \
  ENTRY(hid_t, native_uint64, H5T_NATIVE_UINT64)           \
  ENTRY(hid_t, little_endian_float, H5T_IEEE_F32LE)        \
  ENTRY(hid_t, little_endian_double, H5T_IEEE_F64LE)

/// The section with the module's Hdf5ModuleHeader.
#define LLOYD_HDF5_SECTION ".lloyd_hdf5"

namespace lloyd {

struct Hdf5Table {
  // NOLINTBEGIN(bugprone-macro-parentheses): declared names
#define LLOYD_HDF5_MEMBER(function) decltype(&::function) function;
  LLOYD_HDF5_FUNCTIONS(LLOYD_HDF5_MEMBER)
#undef LLOYD_HDF5_MEMBER
#define LLOYD_HDF5_MEMBER(type, name, value) type (*name)();
  LLOYD_HDF5_CONSTANTS(LLOYD_HDF5_MEMBER)
#undef LLOYD_HDF5_MEMBER
  // NOLINTEND(bugprone-macro-parentheses)
};

/// Read from the module's file before the module is loaded. The core accepts the module only if
/// this header equals its own, kHdf5ModuleHeader.
struct Hdf5ModuleHeader {
  char magic[8];
  std::uint64_t table_size;
  std::uint64_t fingerprint;  // of the names of the table's members
  std::uint32_t version[4];   // of HDF5's headers: major, minor, release, 0

  bool operator==(const Hdf5ModuleHeader&) const = default;
};

/// The FNV-1a hash of a text.
constexpr std::uint64_t hdf5_fingerprint(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char character : text) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3;
  }
  return hash;
}

#define LLOYD_HDF5_NAME(function) #function " "
#define LLOYD_HDF5_CONSTANT(type, name, value) #type " " #name " "
inline constexpr Hdf5ModuleHeader kHdf5ModuleHeader = {
    {'L', 'L', 'O', 'Y', 'D', 'H', '5', '\0'},
    sizeof(Hdf5Table),
    hdf5_fingerprint(LLOYD_HDF5_FUNCTIONS(LLOYD_HDF5_NAME)
                         LLOYD_HDF5_CONSTANTS(LLOYD_HDF5_CONSTANT)),
    {H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE, 0}};
#undef LLOYD_HDF5_NAME
#undef LLOYD_HDF5_CONSTANT

/// The function that the module exports. Initializes the library; null if that fails. Not
/// thread-safe.
using Hdf5TableFunction = const Hdf5Table*();
inline constexpr const char* kHdf5TableFunction = "lloyd_hdf5_table";

}  // namespace lloyd
