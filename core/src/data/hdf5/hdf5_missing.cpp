// Replaces HDF5 support in builds without the library.
#include <fmt/format.h>

#include <lloyd/data/hdf5.hpp>
#include <lloyd/error.hpp>

#include "data/hdf5/hdf5_files.hpp"

namespace lloyd {
namespace {

constexpr const char* kReason =
    "this program was built without HDF5; install libhdf5-dev and build again to read and write "
    "such files";

[[noreturn]] void refuse(const std::filesystem::path& file) {
  throw InputError(fmt::format("{}: {}", file.string(), kReason));
}

}  // namespace

Hdf5Module find_hdf5_module() {
  throw InputError(kReason);
}

bool hdf5_supported() {
  return false;
}

Matrix read_hdf5(const std::filesystem::path& file, const std::string&) {
  refuse(file);
}

std::unique_ptr<RowSource> open_hdf5_rows(const std::filesystem::path& file, const std::string&) {
  refuse(file);
}

std::unique_ptr<RowWriter> create_hdf5_rows(const std::filesystem::path& file, const TableFormat&) {
  refuse(file);
}

}  // namespace lloyd
