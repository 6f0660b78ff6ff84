#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/hdf5.hpp>
#include <lloyd/error.hpp>

#include "temporary_folder.hpp"

namespace lloyd {
namespace {

// Before the library's first use, as in the core.
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

  // Without values, none are written.
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

  Matrix read(const std::string& name = "") {
    close();
    return read_hdf5(path_, name);
  }

  // What is said of the file, with its name taken off.
  std::string refusal(const std::string& name = "") {
    const std::string message = message_of<InputError>([&] { read(name); });
    const std::string prefix = path_.string() + ": ";
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
  }

  TemporaryFolder folder_;
  std::filesystem::path path_;
  hid_t file_ = -1;
};

const std::vector<double> kValues = {1, 2, 3, 4, 5, 6};

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
  for (const auto& c : cases) add(c.name, c.type, {3, 2}, kValues);
  for (const auto& c : cases) {
    const Matrix matrix = read(c.name);
    EXPECT_EQ(matrix.dtype, c.dtype) << c.name;
    ASSERT_EQ(matrix.rows, 3);
    ASSERT_EQ(matrix.columns, 2);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(matrix.at(i / 2, i % 2), i + 1) << c.name;
  }
}

TEST_F(Hdf5, TakesTheOnlyDataSet) {
  add("alone", H5T_IEEE_F32LE, {3, 2}, kValues);
  add("ids", H5T_STD_I32LE, {6}, kValues);  // of one dimension: no rival
  EXPECT_EQ(read().columns, 2);
}

TEST_F(Hdf5, TakesTheOnlyOneOfOneDimensionAsOneFeature) {
  add("ids", H5T_STD_I32LE, {6}, kValues);
  const Matrix matrix = read();
  EXPECT_EQ(matrix.rows, 6);
  EXPECT_EQ(matrix.columns, 1);
  EXPECT_EQ(matrix.at(5, 0), 6);
}

TEST_F(Hdf5, FindsDataSetsInGroupsAndListsThem) {
  H5Gclose(H5Gcreate2(file_, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  add("a/train", H5T_IEEE_F32LE, {3, 2}, kValues);
  add("test", H5T_IEEE_F32LE, {2, 3}, kValues);
  EXPECT_EQ(refusal(),
            "the HDF5 file holds 2 data sets, a/train, test; the option 'dataset' says which one "
            "is meant");
  EXPECT_EQ(read("a/train").rows, 3);
  EXPECT_EQ(read("/test").rows, 2);
  EXPECT_EQ(refusal("train"),
            "the data set 'train' cannot be opened: object 'train' doesn't exist; there are "
            "a/train, test");
  EXPECT_EQ(refusal("a"),
            "the data set 'a' cannot be opened: not a dataset; there are a/train, "
            "test");
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
}

TEST_F(Hdf5, RefusesWhatIsNoTableOfNumbers) {
  EXPECT_EQ(refusal(), "the HDF5 file holds no data set of numbers with one or two dimensions");
}

TEST_F(Hdf5, RefusesOtherShapesAndTypes) {
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 8);
  const hid_t space = H5Screate(H5S_SCALAR);
  H5Dclose(
      H5Dcreate2(file_, "scalar", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
  add("cube", H5T_IEEE_F32LE, {1, 2, 3}, kValues);
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

TEST_F(Hdf5, RefusesDamagedFiles) {
  add("data", H5T_IEEE_F32LE, {3, 2}, kValues);
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
  add("train", H5T_IEEE_F32LE, {3, 2}, kValues);
  add("test", H5T_IEEE_F64LE, {2, 3}, kValues);
  close();
  FileOptions options;
  options.hdf5_dataset = "test";
  const Dataset dataset = read_dataset(path_, options);
  EXPECT_EQ(dataset.name(), "t.h5");
  EXPECT_EQ(dataset.dtype(), DType::float64);
  EXPECT_EQ(open_rows(path_, options)->samples(), 2);
}

}  // namespace
}  // namespace lloyd
