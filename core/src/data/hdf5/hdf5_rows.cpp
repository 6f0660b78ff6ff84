#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/hdf5.hpp>
#include <lloyd/data/library_use.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "data/hdf5/hdf5_files.hpp"
#include "data/hdf5/hdf5_find.hpp"
#include "data/hdf5/hdf5_library.hpp"
#include "data/io/input_file.hpp"
#include "data/rows/check_rows.hpp"
#include "data/rows/integer_rounding.hpp"
#include "data/rows/read_all.hpp"

namespace lloyd {
namespace {

struct Table {
  Hdf5Handle file;
  Hdf5Handle dataset;
  Hdf5Handle space;
  int dimensions = 2;
  std::int64_t rows = 0;
  std::int64_t columns = 1;
  DType dtype = DType::float32;
};

// The library's file descriptor of an open file; -1 if it has none.
int descriptor_of(const Hdf5Handle& file) {
  void* handle = nullptr;
  const bool known =
      hdf5().H5Fget_vfd_handle(file.id(), H5P_DEFAULT, &handle) >= 0 && handle != nullptr;
  return known ? *static_cast<const int*>(handle) : -1;
}

DType dtype_of(const std::string& path, const Hdf5Handle& dataset) {
  const Hdf5Handle type(hdf5().H5Dget_type(dataset.id()), hdf5().H5Tclose);
  const H5T_class_t kind = hdf5().H5Tget_class(type.id());
  const std::size_t size = hdf5().H5Tget_size(type.id());
  if (kind == H5T_FLOAT) return size <= 4 ? DType::float32 : DType::float64;
  if (kind == H5T_INTEGER) return size <= 2 ? DType::float32 : DType::float64;
  throw InputError(fmt::format(
      "{}: the data set's values are neither floating-point numbers nor integers", path));
}

void read_shape(const std::string& path, Table& table) {
  hsize_t sizes[2] = {0, 1};
  table.dimensions = hdf5().H5Sget_simple_extent_ndims(table.space.id());
  if (table.dimensions != 1 && table.dimensions != 2) {
    throw InputError(fmt::format("{}: the data set has {} dimensions; rows by columns are needed",
                                 path, std::max(0, table.dimensions)));
  }
  hdf5().H5Sget_simple_extent_dims(table.space.id(), sizes, nullptr);
  if (sizes[0] == 0 || sizes[1] == 0) {
    throw InputError(fmt::format("{}: the data set has the shape ({}, {}): it holds no values",
                                 path, sizes[0], sizes[1]));
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(sizes[0], sizes[1], &bytes) ||
      __builtin_mul_overflow(bytes, std::int64_t{8}, &bytes)) {
    throw InputError(
        fmt::format("{}: the data set has the shape ({}, {}), which overflows 64-bit sizes", path,
                    sizes[0], sizes[1]));
  }
  table.rows = static_cast<std::int64_t>(sizes[0]);
  table.columns = static_cast<std::int64_t>(sizes[1]);
}

// Refuses external storage: only a single file can be watched for changes, and no file is read that
// the user did not name.
void check_external_storage(const std::string& path, const Hdf5Handle& creation) {
  if (hdf5().H5Pget_external_count(creation.id()) == 0) return;
  throw InputError(
      fmt::format("{}: the data set keeps its values in another file (external storage); h5repack "
                  "makes a file that holds them",
                  path));
}

// Refuses data sets whose values are not in the file: a file of a few bytes may claim any shape,
// and the library returns fill values for missing data.
void check_stored(const std::string& path, const Table& table, const Hdf5Handle& creation) {
  const Hdf5Handle type(hdf5().H5Dget_type(table.dataset.id()), hdf5().H5Tclose);
  // No filter of the library compresses better than deflate at its best.
  const double density = hdf5().H5Pget_nfilters(creation.id()) > 0 ? 1100 : 1;
  const auto stored = static_cast<double>(hdf5().H5Dget_storage_size(table.dataset.id()));
  const double needed = static_cast<double>(table.rows) * static_cast<double>(table.columns) *
                        static_cast<double>(hdf5().H5Tget_size(type.id()));
  if (stored * density >= needed) return;
  throw InputError(
      fmt::format("{}: the data set has the shape ({}, {}), but of its {:.0f} bytes only {:.0f} "
                  "are in the file",
                  path, table.rows, table.columns, needed, stored));
}

// Refuses chunks that were never written: a fill value is no measurement.
void check_chunks(const std::string& path, const Table& table, const Hdf5Handle& creation) {
  if (hdf5().H5Pget_layout(creation.id()) != H5D_CHUNKED) return;
  hsize_t sizes[2] = {1, 1};
  hdf5().H5Pget_chunk(creation.id(), table.dimensions, sizes);
  const auto pieces = [](std::int64_t size, hsize_t piece) {
    return (static_cast<hsize_t>(size) + piece - 1) / piece;
  };
  const hsize_t needed = pieces(table.rows, sizes[0]) * pieces(table.columns, sizes[1]);
  hsize_t stored = 0;
  if (hdf5().H5Dget_num_chunks(table.dataset.id(), table.space.id(), &stored) < 0) {
    throw InputError(
        fmt::format("{}: the chunks of the data set cannot be counted: {}", path, hdf5_reason()));
  }
  if (stored >= needed) return;
  throw InputError(
      fmt::format("{}: of the {} chunks of the data set only {} were written; the rows of the "
                  "others hold no values",
                  path, needed, stored));
}

// The library decompresses a whole chunk for each of its rows, and then holds both forms.
std::int64_t unpacking_bytes(const Table& table, const Hdf5Handle& creation) {
  if (hdf5().H5Pget_layout(creation.id()) != H5D_CHUNKED ||
      hdf5().H5Pget_nfilters(creation.id()) <= 0) {
    return 0;
  }
  hsize_t sizes[2] = {1, 1};
  hdf5().H5Pget_chunk(creation.id(), table.dimensions, sizes);
  const Hdf5Handle type(hdf5().H5Dget_type(table.dataset.id()), hdf5().H5Tclose);
  const double bytes = 2 * static_cast<double>(sizes[0]) * static_cast<double>(sizes[1]) *
                       static_cast<double>(hdf5().H5Tget_size(type.id()));
  return bytes < 0x1p62 ? static_cast<std::int64_t>(bytes) : std::int64_t{1} << 62;
}

class Hdf5Rows : public RowSource {
 public:
  Hdf5Rows(const std::filesystem::path& file, const std::string& dataset)
      // Opening an InputFile first gives clear messages for a missing file and a folder, and
      // detects changes.
      : name_(file.filename().string()),
        path_(file.string()),
        shown_path_(printable(path_)),
        input_(file) {
    require_hdf5(path_);
    const Hdf5Lock lock;
    const LibraryUse reading(FileUse::reading, shown_path_.c_str());
    Table table;
    table.file =
        Hdf5Handle(hdf5().H5Fopen(path_.c_str(), hdf5().read_only(), H5P_DEFAULT), hdf5().H5Fclose);
    if (!table.file.valid()) {
      const std::string reason = hdf5_reason();
      if (hdf5_lock_failed()) {
        throw InputError(
            fmt::format("{}: the HDF5 file is locked by a program that writes it, or "
                        "its file system has no locks ({}); "
                        "HDF5_USE_FILE_LOCKING=FALSE reads it all the same",
                        path_, reason));
      }
      throw InputError(fmt::format("{}: is not a readable HDF5 file: {}", path_, reason));
    }
    if (!input_.is_open_as(descriptor_of(table.file))) {
      throw InputError(fmt::format("{}: the file was replaced while it was opened", path_));
    }
    table.dataset = find_hdf5_dataset(path_, table.file, dataset);
    table.space = Hdf5Handle(hdf5().H5Dget_space(table.dataset.id()), hdf5().H5Sclose);
    table.dtype = dtype_of(path_, table.dataset);
    read_shape(path_, table);
    const Hdf5Handle creation(hdf5().H5Dget_create_plist(table.dataset.id()), hdf5().H5Pclose);
    check_external_storage(path_, creation);
    check_stored(path_, table, creation);
    check_chunks(path_, table, creation);
    unpacking_bytes_ = unpacking_bytes(table, creation);
    table_ = std::move(table);
  }

  ~Hdf5Rows() override {
    const Hdf5Lock lock;
    const LibraryUse reading(FileUse::reading, shown_path_.c_str());
    const Table closed = std::move(table_);
  }

  const std::string& name() const override { return name_; }
  std::int64_t samples() const override { return table_.rows; }
  std::int64_t features() const override { return table_.columns; }
  DType dtype() const override { return table_.dtype; }

  void read(RowRange rows, void* values) const override {
    check_rows(*this, rows);
    if (rows.size() == 0) return;
    const FloatEnvironment environment;
    const Hdf5Lock lock;
    const LibraryUse reading(FileUse::reading, shown_path_.c_str());
    read_as(table_.dtype == DType::float32 ? hdf5().native_float() : hdf5().native_double(), rows,
            values);
  }

  std::int64_t reading_bytes() const override { return unpacking_bytes_; }
  std::string touched_file() const override { return input_.touched_path(); }
  std::vector<FeatureRounding> rounding() const override {
    const Hdf5Lock lock;
    const LibraryUse reading(FileUse::reading, shown_path_.c_str());
    const Hdf5Handle type(hdf5().H5Dget_type(table_.dataset.id()), hdf5().H5Tclose);
    if (hdf5().H5Tget_class(type.id()) != H5T_INTEGER || hdf5().H5Tget_size(type.id()) != 8) {
      return {};
    }
    return hdf5().H5Tget_sign(type.id()) == H5T_SGN_NONE
               ? rounding_of<std::uint64_t>(hdf5().native_uint64())
               : rounding_of<std::int64_t>(hdf5().native_int64());
  }

 private:
  template <class Stored>
  std::vector<FeatureRounding> rounding_of(hid_t type) const {
    const std::int64_t rows = rounding_rows(table_.rows, table_.columns);
    std::vector<Stored> values(static_cast<std::size_t>(rows * table_.columns));
    read_as(type, {0, rows}, values.data());
    return integer_rounding(values, table_.columns);
  }

  // Reads rows, at least one, as values of a type of the library, which is in use.
  void read_as(hid_t type, RowRange rows, void* values) const {
    const hsize_t start[2] = {static_cast<hsize_t>(rows.begin), 0};
    const hsize_t count[2] = {static_cast<hsize_t>(rows.size()),
                              static_cast<hsize_t>(table_.columns)};
    const Hdf5Handle selection(hdf5().H5Scopy(table_.space.id()), hdf5().H5Sclose);
    const Hdf5Handle memory(hdf5().H5Screate_simple(table_.dimensions, count, nullptr),
                            hdf5().H5Sclose);
    if (hdf5().H5Sselect_hyperslab(selection.id(), H5S_SELECT_SET, start, nullptr, count, nullptr) <
            0 ||
        hdf5().H5Dread(table_.dataset.id(), type, memory.id(), selection.id(), H5P_DEFAULT,
                       values) < 0) {
      input_.check_unchanged();
      throw InputError(fmt::format("{}: rows {} to {} (counted from 0) cannot be read: {}", path_,
                                   rows.begin, rows.end - 1, hdf5_reason()));
    }
    input_.check_unchanged();  // the library reads zeros beyond the end of a truncated file
  }

  std::string name_;
  std::string path_;
  std::string shown_path_;
  InputFile input_;
  Table table_;
  std::int64_t unpacking_bytes_ = 0;
};

}  // namespace

std::unique_ptr<RowSource> open_hdf5_rows(const std::filesystem::path& file,
                                          const std::string& dataset) {
  return std::make_unique<Hdf5Rows>(file, dataset);
}

Matrix read_hdf5(const std::filesystem::path& file, const std::string& dataset) {
  return read_all(Hdf5Rows(file, dataset));
}

}  // namespace lloyd
