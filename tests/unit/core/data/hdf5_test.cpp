#include <fcntl.h>
#include <hdf5.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/hdf5.hpp>
#include <lloyd/error.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

// Must precede the first use of the library, as in the core.
const herr_t kNoEndOfProcess = H5dont_atexit();

class Hdf5 : public testing::Test {
 protected:
  Hdf5() : path_(folder_.path() / "t.h5") {
    file_ = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  }
  ~Hdf5() override { close(); }

  void close() {
    if (file_ >= 0) H5Fclose(file_);
    file_ = -1;
  }

  // If `values` is empty, none are written.
  void add(const char* name, hid_t type, const std::vector<hsize_t>& shape,
           const std::vector<double>& values, hid_t creation = H5P_DEFAULT) {
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t set = H5Dcreate2(file_, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    ASSERT_GE(set, 0);
    if (!values.empty()) {
      ASSERT_GE(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    }
    H5Dclose(set);
    H5Sclose(space);
  }

  // Writes rows of two values, starting at `row`, into an existing data set.
  void write_rows(const std::string& name, hsize_t row, const std::vector<double>& values) {
    const hid_t set = H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
    const hid_t space = H5Dget_space(set);
    const hsize_t start[2] = {row, 0};
    const hsize_t count[2] = {values.size() / 2, 2};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
    const hid_t memory = H5Screate_simple(2, count, nullptr);
    ASSERT_GE(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data()), 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(set);
  }

  Matrix read(const std::string& name = "") {
    close();
    return read_hdf5(path_, name);
  }

  // The refusal of the file, without its name.
  std::string refusal(const std::string& name = "") {
    const std::string message = message_of<InputError>([&] { read(name); });
    const std::string prefix = path_.string() + ": ";
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
  }

  TemporaryFolder folder_;
  std::filesystem::path path_;
  hid_t file_ = -1;
};

const std::vector<double> kSixValues = {1, 2, 3, 4, 5, 6};

TEST_F(Hdf5, ReadsEveryRealType) {
  const struct {
    const char* name;
    hid_t type;
    DType dtype;
  } cases[] = {
      {"f4", H5T_IEEE_F32LE, DType::float32},       {"f4be", H5T_IEEE_F32BE, DType::float32},
      {"f8", H5T_IEEE_F64LE, DType::float64},       {"f8be", H5T_IEEE_F64BE, DType::float64},
      {"i1", H5T_STD_I8LE, DType::float32},         {"u1", H5T_STD_U8LE, DType::float32},
      {"i2", H5T_STD_I16BE, DType::float32},        {"u2", H5T_STD_U16LE, DType::float32},
      {"i4", H5T_STD_I32LE, DType::float64},        {"u8", H5T_STD_U64BE, DType::float64},
      {"long", H5T_NATIVE_LDOUBLE, DType::float64},
  };
  for (const auto& c : cases) add(c.name, c.type, {3, 2}, kSixValues);
  for (const auto& c : cases) {
    const Matrix matrix = read(c.name);
    EXPECT_EQ(matrix.dtype, c.dtype) << c.name;
    ASSERT_EQ(matrix.rows, 3);
    ASSERT_EQ(matrix.columns, 2);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(matrix.at(i / 2, i % 2), i + 1) << c.name;
  }
}

TEST_F(Hdf5, MeasuresHowFloat64RoundsIntegers) {
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  const std::int64_t signed_values[] = {-large, -large + 1, -large + 2};
  const std::uint64_t unsigned_values[] = {~std::uint64_t{0}, ~std::uint64_t{0} - 1, 0};
  const std::int64_t exact[] = {1, 2, 3};
  const hsize_t size[] = {3};
  const auto add_integers = [&](const char* name, hid_t stored, hid_t type, const void* values) {
    const hid_t space = H5Screate_simple(1, size, nullptr);
    const hid_t set = H5Dcreate2(file_, name, stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    H5Dclose(set);
    H5Sclose(space);
  };
  add_integers("signed", H5T_STD_I64BE, H5T_NATIVE_INT64, signed_values);
  add_integers("unsigned", H5T_STD_U64LE, H5T_NATIVE_UINT64, unsigned_values);
  add_integers("exact", H5T_STD_I64LE, H5T_NATIVE_INT64, exact);
  close();
  const auto rounding = [&](const char* name) {
    FileOptions options;
    options.array_name = name;
    return read_dataset(path_, options).rounding;
  };
  EXPECT_EQ(rounding("signed").at(0).error, 1);
  EXPECT_EQ(rounding("unsigned").at(0).error, 2);
  EXPECT_TRUE(rounding("exact").empty());
}

TEST_F(Hdf5, TakesTheOnlyDataSet) {
  add("alone", H5T_IEEE_F32LE, {3, 2}, kSixValues);
  add("ids", H5T_STD_I32LE, {6}, kSixValues);  // one-dimensional, so not a candidate
  EXPECT_EQ(read().columns, 2);
}

TEST_F(Hdf5, TakesTheOnlyOneOfOneDimensionAsOneFeature) {
  add("ids", H5T_STD_I32LE, {6}, kSixValues);
  const Matrix matrix = read();
  EXPECT_EQ(matrix.rows, 6);
  EXPECT_EQ(matrix.columns, 1);
  EXPECT_EQ(matrix.at(5, 0), 6);
}

TEST_F(Hdf5, FindsDataSetsInGroupsAndListsThem) {
  H5Gclose(H5Gcreate2(file_, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  add("a/train", H5T_IEEE_F32LE, {3, 2}, kSixValues);
  add("test", H5T_IEEE_F32LE, {2, 3}, kSixValues);
  EXPECT_EQ(refusal(),
            "the HDF5 file holds 2 data sets, a/train, test; choose one with the option 'dataset'");
  EXPECT_EQ(read("a/train").rows, 3);
  EXPECT_EQ(read("/test").rows, 2);
  EXPECT_EQ(refusal("train"),
            "the data set 'train' cannot be opened: object 'train' doesn't exist; there are "
            "a/train, test");
  EXPECT_EQ(refusal("a"),
            "the data set 'a' cannot be opened: not a dataset; there are a/train, "
            "test");
}

TEST_F(Hdf5, LimitsTheDepthOfItsSearch) {
  std::string group;
  const auto deepen = [&](int depth) {
    for (int i = 0; i < depth; ++i) {
      group += "/g";
      H5Gclose(H5Gcreate2(file_, group.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
  };
  deepen(63);
  add((group + "/x").c_str(), H5T_IEEE_F32LE, {3, 2}, kSixValues);
  EXPECT_EQ(read().rows, 3) << "64 names";
  file_ = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  deepen(2);
  EXPECT_EQ(refusal(),
            "the groups of the HDF5 file are nested more than 64 deep, too deep for a search; the "
            "option 'dataset' says which data set is meant");
  EXPECT_EQ(read(group.substr(0, 2 * 63) + "/x").rows, 3);
  EXPECT_EQ(refusal("y"),
            "the data set 'y' cannot be opened: object 'y' doesn't exist; there are ...");
}

TEST_F(Hdf5, ReadsPackedChunks) {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t chunk[2] = {1000, 1};
  H5Pset_chunk(creation, 2, chunk);
  H5Pset_shuffle(creation);
  H5Pset_deflate(creation, 9);
  std::vector<double> values(200000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 7);
  add("packed", H5T_IEEE_F64LE, {100000, 2}, values, creation);
  H5Pclose(creation);
  const Matrix matrix = read();
  for (int i = 0; i < 200000; ++i) ASSERT_EQ(matrix.at(i / 2, i % 2), i % 7);
  EXPECT_EQ(open_rows(path_)->reading_bytes(), 2 * 1000 * 8) << "a chunk, packed and unpacked";
}

TEST_F(Hdf5, RefusesDataThatIsNotATableOfNumbers) {
  EXPECT_EQ(refusal(), "the HDF5 file holds no data set of numbers with one or two dimensions");
}

TEST_F(Hdf5, RefusesOtherShapesAndTypes) {
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 8);
  const hid_t space = H5Screate(H5S_SCALAR);
  H5Dclose(
      H5Dcreate2(file_, "scalar", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
  add("cube", H5T_IEEE_F32LE, {1, 2, 3}, kSixValues);
  add("none", H5T_IEEE_F32LE, {0, 3}, {});
  add("text", text, {3, 2}, {});
  H5Tclose(text);
  EXPECT_EQ(refusal("scalar"), "the data set has 0 dimensions; rows by columns are needed");
  EXPECT_EQ(refusal("cube"), "the data set has 3 dimensions; rows by columns are needed");
  EXPECT_EQ(refusal("none"), "the data set has the shape (0, 3): it holds no values");
  EXPECT_EQ(refusal("text"),
            "the data set's values are neither floating-point numbers nor integers");
}

TEST_F(Hdf5, RefusesShapesThatTheFileCannotHold) {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t chunk[2] = {1000, 2};
  H5Pset_chunk(creation, 2, chunk);
  add("huge", H5T_IEEE_F32LE, {hsize_t{1} << 40, 4}, {}, creation);
  H5Pset_deflate(creation, 9);
  add("packed", H5T_IEEE_F32LE, {hsize_t{1} << 40, 4}, {}, creation);
  add("beyond", H5T_IEEE_F32LE, {hsize_t{1} << 60, 16}, {}, creation);
  H5Pclose(creation);
  const std::string sparse =
      "the data set has the shape (1099511627776, 4), but of its 17592186044416 bytes only 0 are "
      "in the file";
  EXPECT_EQ(refusal("huge"), sparse);
  EXPECT_EQ(refusal("packed"), sparse);
  EXPECT_EQ(refusal("beyond"),
            "the data set has the shape (1152921504606846976, 16), which overflows 64-bit sizes");
}

// Fill values are not measurements, even if the writer chose them.
TEST_F(Hdf5, RefusesChunksThatWereNeverWritten) {
  const double fill = 1;
  for (const bool packed : {false, true}) {
    for (const bool own_fill : {false, true}) {
      const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
      const hsize_t chunk[2] = {10, 2};
      H5Pset_chunk(creation, 2, chunk);
      if (packed) H5Pset_deflate(creation, 9);
      if (own_fill) H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &fill);
      const std::string name = fmt::format("d{:d}{:d}", packed, own_fill);
      add(name.c_str(), H5T_IEEE_F32LE, {1000, 2}, {}, creation);
      H5Pclose(creation);
      write_rows(name, 0, std::vector<double>(20, 3));
      if (!packed) write_rows(name, 20, std::vector<double>(1940, 3));
    }
  }
  const std::string few =
      "of the 100 chunks of the data set only 1 were written; the rows of the others hold no "
      "values";
  EXPECT_EQ(refusal("d10"), few);
  EXPECT_EQ(refusal("d11"), few);
  const std::string most =
      "the data set has the shape (1000, 2), but of its 8000 bytes only 7840 are in the file";
  EXPECT_EQ(refusal("d00"), most);
  EXPECT_EQ(refusal("d01"), most);
}

TEST_F(Hdf5, RefusesRowsThatDoNotExist) {
  const std::filesystem::path file = folder_.path() / "few.h5";
  write_dataset(file, Dataset("few", Matrix::from_values(std::vector<float>{1, 2}, 2, 1)));
  std::vector<float> values(4);
  EXPECT_EQ(message_of<InputError>([&] {
              open_rows(file)->read({1, 3}, values.data());
            }),
            "few.h5: the rows from 1 up to 3 were requested; there are 2, counted from 0");
}

TEST_F(Hdf5, ReadsChunksThatReachBeyondTheLastRow) {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t chunk[2] = {64, 3};
  H5Pset_chunk(creation, 2, chunk);
  H5Pset_deflate(creation, 1);
  add("data", H5T_IEEE_F64LE, {101, 4}, std::vector<double>(404, 2.5), creation);
  H5Pclose(creation);
  EXPECT_EQ(read().at(100, 3), 2.5);
}

TEST_F(Hdf5, RefusesValuesInOtherFiles) {
  const hid_t external = H5Pcreate(H5P_DATASET_CREATE);
  const auto raw = folder_.write("raw", std::string(64, '\x40'));
  H5Pset_external(external, raw.c_str(), 0, 8'000'000);
  add("external", H5T_IEEE_F32LE, {1'000'000, 2}, {}, external);
  H5Pclose(external);
  EXPECT_EQ(refusal("external"),
            "the data set keeps its values in another file (external storage); h5repack makes a "
            "file that holds them");

  file_ = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t shape[2] = {10, 2};
  const hid_t space = H5Screate_simple(2, shape, nullptr);
  H5Pset_virtual(layout, space, "missing.h5", "data", space);
  add("virtual", H5T_IEEE_F32LE, {10, 2}, {}, layout);
  H5Sclose(space);
  H5Pclose(layout);
  EXPECT_EQ(refusal("virtual"),
            "the data set is virtual, composed of other data sets; h5repack makes one that "
            "holds its values");

  file_ = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const auto other = folder_.path() / "other.h5";
  const hid_t first =
      std::exchange(file_, H5Fcreate(other.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  add("data", H5T_IEEE_F32LE, {3, 2}, kSixValues);
  close();
  file_ = first;
  H5Lcreate_external(other.c_str(), "data", file_, "link", H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_EQ(refusal("link"), "the data set lies in another file, " + other.string() +
                                 ", through an external link; that file can be named instead");
}

// Opening a pipe without a writer would block.
TEST_F(Hdf5, OpensNoOtherFile) {
  const auto pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t shape[2] = {6, 2};
  const hsize_t most[2] = {H5S_UNLIMITED, 2};
  const hid_t space = H5Screate_simple(2, shape, most);
  const hsize_t start[2] = {0, 0};
  const hsize_t count[2] = {H5S_UNLIMITED, 1};
  const hsize_t block[2] = {1, 2};
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, block);
  ASSERT_GE(H5Pset_virtual(layout, space, pipe.c_str(), "data", space), 0);
  H5Dclose(H5Dcreate2(file_, "virtual", H5T_IEEE_F32LE, space, H5P_DEFAULT, layout, H5P_DEFAULT));
  H5Sclose(space);
  H5Pclose(layout);
  H5Lcreate_external(pipe.c_str(), "data", file_, "link", H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_TRUE(refusal().starts_with("the data set is virtual"));
  EXPECT_TRUE(refusal("virtual").starts_with("the data set is virtual"));
  EXPECT_TRUE(refusal("link").starts_with("the data set lies in another file, " + pipe.string()));
}

// The library returns zeros for data beyond the end of a file.
TEST_F(Hdf5, AFileThatIsChangedMeanwhileSaysSo) {
  for (const bool cut : {true, false}) {
    close();
    file_ = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    add("data", H5T_IEEE_F32LE, {100'000, 2}, std::vector<double>(200'000, 1));
    close();
    const auto source = open_rows(path_);
    std::vector<float> values(20);
    source->read({0, 10}, values.data());
    const auto size = std::filesystem::file_size(path_);
    if (cut) {
      std::filesystem::resize_file(path_, size / 2);
    } else {
      std::filesystem::last_write_time(
          path_, std::filesystem::last_write_time(path_) + std::chrono::seconds(1));
    }
    const std::string message = message_of<InputError>([&] {
      source->read({99'990, 100'000}, values.data());
    });
    EXPECT_EQ(
        message,
        path_.string() +
            (cut ? fmt::format(": the file was truncated from {} to {} bytes while it was in use",
                               size, size / 2)
                 : ": the file was changed while it was in use"));
  }
}

// Another file under the same name does not affect the open one.
TEST_F(Hdf5, AFileThatIsReplacedMeanwhileIsReadOn) {
  add("data", H5T_IEEE_F32LE, {3, 2}, kSixValues);
  close();
  const auto source = open_rows(path_);
  const auto other = folder_.write("other", "something else");
  std::filesystem::rename(other, path_);
  std::vector<float> values(6);
  source->read({0, 3}, values.data());
  EXPECT_EQ(values.back(), 6);
}

TEST_F(Hdf5, AFileThatIsLockedSaysSo) {
  add("data", H5T_IEEE_F32LE, {3, 2}, kSixValues);
  close();
  const int descriptor = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
  const std::string message = message_of<InputError>([&] { open_rows(path_); });
  ::close(descriptor);
  EXPECT_EQ(message,
            path_.string() +
                ": the HDF5 file is locked by a program that writes it, or its file system "
                "has no locks (Resource temporarily unavailable); "
                "HDF5_USE_FILE_LOCKING=FALSE reads it all the same");
}

TEST_F(Hdf5, RefusesDamagedFiles) {
  add("data", H5T_IEEE_F32LE, {3, 2}, kSixValues);
  close();
  const std::string whole = TemporaryFolder::read(path_);
  const auto said = [&](const std::string& bytes) {
    folder_.write("t.h5", bytes);
    return refusal();
  };
  EXPECT_EQ(said(""), "is not a readable HDF5 file: file signature not found");
  EXPECT_EQ(said("x,y\n1,2\n"), "is not a readable HDF5 file: file signature not found");
  EXPECT_EQ(said(whole.substr(0, 100)).substr(0, 28), "is not a readable HDF5 file:");
  EXPECT_EQ(said(whole.substr(0, whole.size() - 8)).substr(0, 44),
            "is not a readable HDF5 file: truncated file:");
  const auto missing = folder_.path() / "missing.h5";
  EXPECT_EQ(message_of<InputError>([&] { read_hdf5(missing); }),
            missing.string() + ": cannot open the file: No such file or directory");
  EXPECT_EQ(message_of<InputError>([&] { read_hdf5(folder_.path()); }),
            folder_.path().string() + ": is not a regular file");
}

TEST_F(Hdf5, LeavesTheLibrarysErrorReportsAsTheyWere) {
  H5E_auto2_t before = nullptr, after = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);
  EXPECT_NE(before, nullptr);
  testing::internal::CaptureStderr();
  refusal("nothing");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  H5Eget_auto2(H5E_DEFAULT, &after, &data);
  EXPECT_EQ(before, after);
}

TEST_F(Hdf5, IsADatasetNamedByItsFile) {
  add("train", H5T_IEEE_F32LE, {3, 2}, kSixValues);
  add("test", H5T_IEEE_F64LE, {2, 3}, kSixValues);
  close();
  FileOptions options;
  options.array_name = "test";
  const Dataset dataset = read_dataset(path_, options);
  EXPECT_EQ(dataset.name(), "t.h5");
  EXPECT_EQ(dataset.dtype(), DType::float64);
  EXPECT_EQ(open_rows(path_, options)->samples(), 2);
}

}  // namespace
}  // namespace lloyd
