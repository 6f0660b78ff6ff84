#include <algorithm>

#include <fmt/format.h>

#include <lloyd/data/library_use.hpp>
#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>

#include "data/hdf5/hdf5_files.hpp"
#include "data/hdf5/hdf5_library.hpp"
#include "data/rows/row_writers.hpp"

namespace lloyd {
namespace {

constexpr const char* kName = "data";

class Hdf5Writer : public RowWriter {
 public:
  Hdf5Writer(const std::filesystem::path& file, const TableFormat& table)
      : path_(file.string()),
        shown_path_(printable(path_)),
        file_(file, min_bytes(table, size_of(table.dtype))),
        features_(static_cast<hsize_t>(table.features)) {
    const LibraryUse writing(FileUse::writing, shown_path_.c_str());
    const Hdf5Lock lock;
    Handles handles;
    const bool single = table.dtype == DType::float32;
    type_ = single ? hdf5().native_float() : hdf5().native_double();
    handles.file = Hdf5Handle(
        hdf5().H5Fcreate(file_.temporary().c_str(), hdf5().truncate(), H5P_DEFAULT, H5P_DEFAULT),
        hdf5().H5Fclose);
    check(handles.file.valid());

    // Values per chunk. A chunk has some hundred kilobytes, so that several fit into the library's
    // cache of a megabyte.
    constexpr hsize_t kChunkValues = 1 << 16;
    const hsize_t columns = std::min(features_, kChunkValues);
    const hsize_t chunk[2] = {kChunkValues / columns, columns};
    const hsize_t size[2] = {0, features_};
    const hsize_t most[2] = {H5S_UNLIMITED, features_};
    const Hdf5Handle space(hdf5().H5Screate_simple(2, size, most), hdf5().H5Sclose);
    const Hdf5Handle creation(hdf5().H5Pcreate(hdf5().dataset_creation_class()), hdf5().H5Pclose);
    check(space.valid() && creation.valid() && hdf5().H5Pset_chunk(creation.id(), 2, chunk) >= 0);
    // Little-endian on disk on every machine.
    handles.dataset = Hdf5Handle(
        hdf5().H5Dcreate2(handles.file.id(), kName,
                          single ? hdf5().little_endian_float() : hdf5().little_endian_double(),
                          space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
        hdf5().H5Dclose);
    check(handles.dataset.valid());
    handles_ = std::move(handles);
  }

  ~Hdf5Writer() override {
    const LibraryUse writing(FileUse::writing, shown_path_.c_str());
    const Hdf5Lock lock;
    const Handles closed = std::move(handles_);
  }

  void write(const void* values, std::int64_t rows, std::span<const std::string>) override {
    if (rows == 0) return;
    const LibraryUse writing(FileUse::writing, shown_path_.c_str());
    const Hdf5Lock lock;
    const hsize_t start[2] = {rows_, 0};
    const hsize_t count[2] = {static_cast<hsize_t>(rows), features_};
    const hsize_t size[2] = {rows_ + count[0], features_};
    check(hdf5().H5Dset_extent(handles_.dataset.id(), size) >= 0);
    const Hdf5Handle selection(hdf5().H5Dget_space(handles_.dataset.id()), hdf5().H5Sclose);
    const Hdf5Handle memory(hdf5().H5Screate_simple(2, count, nullptr), hdf5().H5Sclose);
    check(hdf5().H5Sselect_hyperslab(selection.id(), H5S_SELECT_SET, start, nullptr, count,
                                     nullptr) >= 0 &&
          hdf5().H5Dwrite(handles_.dataset.id(), type_, memory.id(), selection.id(), H5P_DEFAULT,
                          values) >= 0);
    rows_ += count[0];
  }

  void commit() override {
    {
      const LibraryUse writing(FileUse::writing, shown_path_.c_str());
      const Hdf5Lock lock;
      check(handles_.dataset.release());
      check(handles_.file.release());
    }
    file_.commit();
  }

 private:
  // In the order of creation; destroyed in reverse.
  struct Handles {
    Hdf5Handle file;
    Hdf5Handle dataset;
  };

  void check(bool done) const {
    if (done) return;
    throw Error(fmt::format("{}: cannot write the file: {}", path_, hdf5_reason()));
  }

  std::string path_;
  std::string shown_path_;  // printable()
  NewFile file_;
  Handles handles_;
  hid_t type_ = H5I_INVALID_HID;
  hsize_t features_;
  hsize_t rows_ = 0;
};

}  // namespace

std::unique_ptr<RowWriter> create_hdf5_rows(const std::filesystem::path& file,
                                            const TableFormat& table) {
  require_hdf5(file.string());
  return std::make_unique<Hdf5Writer>(file, table);
}

}  // namespace lloyd
