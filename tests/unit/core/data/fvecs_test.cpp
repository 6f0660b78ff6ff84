#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/fvecs.hpp>
#include <lloyd/data/row_writer.hpp>
#include <lloyd/error.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

using namespace std::string_literals;

// The rows (1, 2) and (-1.5, 0.25), byte by byte.
const std::string kTwoRows =
    "\2\0\0\0"
    "\0\0\x80\x3f"
    "\0\0\0\x40"
    "\2\0\0\0"
    "\0\0\xc0\xbf"
    "\0\0\x80\x3e"s;

std::string count(std::int32_t value) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

class Fvecs : public testing::Test {
 protected:
  // The refusal of the bytes, without the file's name.
  std::string refusal(const std::string& bytes, const char* name = "t.fvecs") const {
    const auto file = folder_.write(name, bytes);
    const std::string message = message_of<InputError>([&] { read_fvecs(file); });
    const std::string prefix = file.string() + ": ";
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
  }

  TemporaryFolder folder_;
};

TEST_F(Fvecs, StaysInItsFileAsStridedRows) {
  const auto file = folder_.write("t.fvecs", kTwoRows);
  const Matrix matrix = read_fvecs(file);
  EXPECT_EQ(matrix.dtype, DType::float32);
  EXPECT_EQ(matrix.rows, 2);
  EXPECT_EQ(matrix.columns, 2);
  EXPECT_EQ(matrix.stride, 3);
  std::filesystem::remove(file);  // the mapping remains valid
  EXPECT_EQ(matrix.at(0, 0), 1);
  EXPECT_EQ(matrix.at(0, 1), 2);
  EXPECT_EQ(matrix.at(1, 0), -1.5);
  EXPECT_EQ(matrix.at(1, 1), 0.25);
}

TEST_F(Fvecs, OfBytesBecomesFloat32) {
  const auto file = folder_.write("t.bvecs", count(3) + "\0\x7f\xff"s + count(3) + "\1\2\3"s);
  const Matrix matrix = read_fvecs(file);
  EXPECT_EQ(matrix.rows, 2);
  EXPECT_EQ(matrix.columns, 3);
  EXPECT_EQ(matrix.stride, 3);
  EXPECT_EQ(matrix.at(0, 1), 127);
  EXPECT_EQ(matrix.at(0, 2), 255);
  EXPECT_EQ(matrix.at(1, 0), 1);
}

TEST_F(Fvecs, IsADatasetNamedByItsFile) {
  const Dataset dataset = read_dataset(folder_.write("Base.FVECS", kTwoRows));
  EXPECT_EQ(dataset.name(), "Base.FVECS");
  EXPECT_EQ(dataset.statistics()[0].minimum, -1.5);
  EXPECT_NE(dataset.view().required_capabilities & kCapabilityStrided, 0u);
}

TEST_F(Fvecs, OfOneValueIsNoMoreThanEightBytes) {
  const Matrix matrix = read_fvecs(folder_.write("t.fvecs", count(1) + "\0\0\x80\x3f"s));
  EXPECT_EQ(matrix.rows, 1);
  EXPECT_EQ(matrix.columns, 1);
  EXPECT_EQ(matrix.at(0, 0), 1);
}

TEST_F(Fvecs, IsWrittenByteByByte) {
  const auto file = folder_.path() / "out.fvecs";
  const float values[] = {1, 2, -1.5f, 0.25f};
  const auto writer = create_rows(file, {.features = 2});
  writer->write(values, 1);
  writer->write(values + 2, 1);
  EXPECT_FALSE(std::filesystem::exists(file));
  writer->commit();
  EXPECT_EQ(TemporaryFolder::read(file), kTwoRows);
}

TEST_F(Fvecs, CannotHoldFloat64) {
  const auto file = folder_.path() / "out.fvecs";
  EXPECT_EQ(
      message_of<InputError>([&] { create_rows(file, {.features = 2, .dtype = DType::float64}); }),
      file.string() +
          ": an .fvecs file holds float32 values, and these are float64; a dtype of "
          "float32 rounds them");
}

TEST_F(Fvecs, RefusesDamagedFiles) {
  const std::string uneven =
      "the file is truncated or damaged: its {} bytes are not a whole number of rows of {} bytes, "
      "for {} values per row";
  const auto uneven_text = [&](const char* size, const char* row, const char* values) {
    std::string text = uneven;
    for (const char* value : {size, row, values}) text.replace(text.find("{}"), 2, value);
    return text;
  };
  const struct {
    const char* what;
    std::string bytes;
    std::string message;
  } cases[] = {
      {"nothing", "", "the file is empty"},
      {"half a count", std::string(2, '\0'), "the file ends inside its first number"},
      {"no values", count(0), "row 0 (counted from 0) claims 0 values; at least 1 is needed"},
      {"a negative count", count(-2) + kTwoRows,
       "row 0 (counted from 0) claims -2 values; at least 1 is needed"},
      {"a count beyond the file", count(2147483647) + kTwoRows,
       uneven_text("28", "8589934592", "2147483647")},
      {"a cut row", kTwoRows.substr(0, 23), uneven_text("23", "12", "2")},
      {"a count alone", count(2), uneven_text("4", "12", "2")},
      {"text", "1,2\n3,4\n", uneven_text("8", "684241096", "171060273")},
      {"rows of two lengths", kTwoRows.substr(0, 12) + count(1) + "12345678",
       "row 1 (counted from 0) claims 1 value; row 0 has 2, and all rows must have as many"},
  };
  for (const auto& c : cases) EXPECT_EQ(refusal(c.bytes), c.message) << c.what;
  EXPECT_EQ(refusal(count(2) + "\1", "t.bvecs"), uneven_text("5", "6", "2"));
  EXPECT_EQ(message_of<InputError>([&] { read_fvecs(folder_.path()); }),
            folder_.path().string() + ": is not a regular file");
}

}  // namespace
}  // namespace lloyd
