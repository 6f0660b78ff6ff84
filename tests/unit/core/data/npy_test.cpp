#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/npy.hpp>
#include <lloyd/data/row_source.hpp>
#include <lloyd/data/row_views.hpp>
#include <lloyd/error.hpp>
#include <lloyd/rounding.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

static_assert(std::endian::native == std::endian::little, "the expected bytes are little-endian");

using namespace std::string_literals;

// A file whose dictionary is padded so that the data begins at a multiple of 64, plus `shift`.
std::string npy(const std::string& dictionary, const std::string& data, int version = 1,
                std::size_t shift = 0) {
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::string text = dictionary;
  while ((8 + length_bytes + text.size() + 1) % 64 != shift) text += ' ';
  text += '\n';
  std::string bytes = "\x93NUMPY"s + static_cast<char>(version) + '\0';
  for (std::size_t i = 0; i < length_bytes; ++i) {
    bytes += static_cast<char>((text.size() >> (8 * i)) & 0xff);
  }
  return bytes + text + data;
}

template <class T>
std::string bytes_of(const std::vector<T>& values, bool swapped = false) {
  std::string bytes;
  for (const T value : values) {
    char one[sizeof(T)];
    std::memcpy(one, &value, sizeof(T));
    if (swapped) std::reverse(one, one + sizeof(T));
    bytes.append(one, sizeof(T));
  }
  return bytes;
}

std::string dictionary(const std::string& descr, const std::string& order,
                       const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

std::vector<double> values(const Matrix& matrix) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t j = 0; j < matrix.columns; ++j) result.push_back(matrix.at(i, j));
  }
  return result;
}

using Values = std::vector<double>;

const std::vector<float> kFloats = {1.5f, 2, 3, 4, 5, 6};
const std::vector<double> kDoubles = {1.5, 2, 3, 4, 5, 6};

class Npy : public testing::Test {
 protected:
  Matrix read(const std::string& bytes) const { return read_npy(folder_.write("t.npy", bytes)); }

  // The refusal of the bytes, without the file's name.
  std::string refusal(const std::string& bytes) const {
    const std::string message = message_of<InputError>([&] { read(bytes); });
    const std::string prefix = (folder_.path() / "t.npy").string() + ": ";
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
  }

  TemporaryFolder folder_;
};

TEST_F(Npy, ReadsFloat32AndFloat64) {
  const Matrix single = read(npy(dictionary("<f4", "False", "(2, 3)"), bytes_of(kFloats)));
  EXPECT_EQ(single.dtype, DType::float32);
  EXPECT_EQ(single.rows, 2);
  EXPECT_EQ(single.columns, 3);
  EXPECT_EQ(single.stride, 3);
  EXPECT_EQ(values(single), kDoubles);
  const Matrix wide = read(npy(dictionary("<f8", "False", "(3, 2)"), bytes_of(kDoubles)));
  EXPECT_EQ(wide.dtype, DType::float64);
  EXPECT_EQ(wide.rows, 3);
  EXPECT_EQ(values(wide), kDoubles);
}

template <class T>
void expect_integers(const std::function<Matrix(const std::string&)>& read, const char* descr,
                     DType dtype) {
  const std::vector<T> stored = {std::numeric_limits<T>::min(), 1, 2, 3, 4,
                                 std::numeric_limits<T>::max()};
  for (const bool swapped : {false, true}) {
    for (const bool fortran : {false, true}) {
      const std::string type = (swapped ? ">"s : "<"s) + descr;
      const Matrix matrix = read(
          npy(dictionary(type, fortran ? "True" : "False", "(2, 3)"), bytes_of(stored, swapped)));
      EXPECT_EQ(matrix.dtype, dtype) << type;
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 3; ++j) {
          const T value = stored[static_cast<std::size_t>(fortran ? 2 * j + i : 3 * i + j)];
          EXPECT_EQ(matrix.at(i, j), static_cast<double>(value)) << type;
        }
      }
    }
  }
}

TEST_F(Npy, ReadsIntegersOfEverySize) {
  const auto read_bytes = [&](const std::string& bytes) { return read(bytes); };
  expect_integers<std::int8_t>(read_bytes, "i1", DType::float32);
  expect_integers<std::int16_t>(read_bytes, "i2", DType::float32);
  expect_integers<std::int32_t>(read_bytes, "i4", DType::float64);
  expect_integers<std::int64_t>(read_bytes, "i8", DType::float64);
  expect_integers<std::uint8_t>(read_bytes, "u1", DType::float32);
  expect_integers<std::uint8_t>(read_bytes, "b1", DType::float32);
  expect_integers<std::uint16_t>(read_bytes, "u2", DType::float32);
  expect_integers<std::uint32_t>(read_bytes, "u4", DType::float64);
  expect_integers<std::uint64_t>(read_bytes, "u8", DType::float64);
}

// A dataset of two integer columns, of which only the second is beyond float64's exact range.
template <class T>
void expect_rounding(const std::filesystem::path& file, const char* descr) {
  const T large = (T{1} << 60) + 1;
  const std::vector<T> stored = {1, 2, 4, large, large + 1, large + 2};  // by columns
  const std::string bytes =
      npy(dictionary(descr, "True", "(3, 2)"), bytes_of(stored, descr[0] == '>'));
  std::ofstream(file, std::ios::binary) << bytes;
  const Dataset dataset = read_npy_dataset(file);
  ASSERT_EQ(dataset.rounding.size(), 2U) << descr;
  EXPECT_EQ(dataset.rounding[0].error, 0) << descr;
  EXPECT_EQ(dataset.rounding[1].error, 3) << descr;
  EXPECT_EQ(dataset.rounding[1].dtype, DType::float64);
  const std::vector<RoundingLoss> losses = rounding_losses(dataset.rounding, dataset.statistics());
  ASSERT_EQ(losses.size(), 1U) << descr;
  EXPECT_EQ(losses[0].feature, 1);
  EXPECT_EQ(losses[0].deviation, 0);
  const std::shared_ptr<const RowSource> rows = open_rows(file);
  const auto selected = select_columns(rows, {1})->rounding();
  ASSERT_EQ(selected.size(), 1U) << descr;
  EXPECT_EQ(selected[0].error, 3);
  const Dataset streamed(rows, 2);
  EXPECT_EQ(rounding_losses(streamed.rounding, streamed.statistics()).size(), 1U) << descr;
}

TEST_F(Npy, MeasuresHowFloat64RoundsIntegers) {
  const std::filesystem::path file = folder_.path() / "t.npy";
  expect_rounding<std::int64_t>(file, "<i8");
  expect_rounding<std::int64_t>(file, ">i8");
  expect_rounding<std::uint64_t>(file, "<u8");
  const auto write = [&](const std::vector<std::int64_t>& stored) {
    folder_.write("t.npy", npy(dictionary("<i8", "False", "(3, 1)"), bytes_of(stored)));
    return read_npy_dataset(file);
  };
  const std::int64_t exact = std::int64_t{1} << 53;
  EXPECT_TRUE(write({-exact, exact, exact - 1}).rounding.empty());
  EXPECT_EQ(write({-exact - 1, exact, 0}).rounding.at(0).error, 1);
  // Equal integers lose no difference.
  const Dataset equal = write({exact + 1, exact + 1, exact + 1});
  EXPECT_TRUE(rounding_losses(equal.rounding, equal.statistics()).empty());
  const Dataset widest = write({std::numeric_limits<std::int64_t>::max(), 0, 1});
  EXPECT_EQ(widest.rounding.at(0).error, 1);
  EXPECT_TRUE(rounding_losses(widest.rounding, widest.statistics()).empty());
}

TEST_F(Npy, ReadsFloat16) {
  // 1, -2, the largest number, the smallest normal and subnormal numbers, -0.
  const std::vector<std::uint16_t> bits = {0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x8000};
  for (const bool swapped : {false, true}) {
    const Matrix matrix =
        read(npy(dictionary(swapped ? ">f2" : "<f2", "False", "(6,)"), bytes_of(bits, swapped)));
    EXPECT_EQ(matrix.dtype, DType::float32);
    EXPECT_EQ(values(matrix), (Values{1, -2, 65504, 0x1p-14, 0x1p-24, 0}));
    EXPECT_TRUE(std::signbit(matrix.at(5, 0)));
  }
  const std::vector<std::uint16_t> invalid = {0x7c00, 0xfc00, 0x7e00, 0x3c00};
  const Values special = values(read(npy(dictionary("<f2", "False", "(4,)"), bytes_of(invalid))));
  EXPECT_EQ(special[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(special[1], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(special[2]));
}

TEST_F(Npy, RefusesIntegersThatAreCutShort) {
  EXPECT_EQ(refusal(npy(dictionary("<i2", "False", "(3, 1)"), "12345")),
            "the file is truncated: the shape (3, 1) needs 6 bytes, 5 are there");
}

TEST_F(Npy, ReadsVersionsOneToThree) {
  for (const int version : {1, 2, 3}) {
    const Matrix matrix =
        read(npy(dictionary("<f4", "False", "(2, 3)"), bytes_of(kFloats), version));
    EXPECT_EQ(values(matrix), kDoubles) << version;
  }
}

TEST_F(Npy, ReadsEveryByteOrder) {
  for (const char* descr : {">f8", "<f8", "=f8", "|f8", "f8"}) {
    const bool swapped = descr[0] == '>';
    EXPECT_EQ(values(read(npy(dictionary(descr, "False", "(2, 3)"), bytes_of(kDoubles, swapped)))),
              kDoubles)
        << descr;
  }
  EXPECT_EQ(values(read(npy(dictionary(">f4", "False", "(2, 3)"), bytes_of(kFloats, true)))),
            kDoubles);
}

TEST_F(Npy, TurnsFortranOrderIntoCOrder) {
  EXPECT_EQ(values(read(npy(dictionary("<f4", "True", "(2, 3)"), bytes_of(kFloats)))),
            (Values{1.5, 3, 5, 2, 4, 6}));
  EXPECT_EQ(values(read(npy(dictionary(">f8", "True", "(3, 2)"), bytes_of(kDoubles, true)))),
            (Values{1.5, 4, 2, 5, 3, 6}));
  std::vector<float> many(1000 * 3);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i);
  const Matrix tall = read(npy(dictionary("<f4", "True", "(1000, 3)"), bytes_of(many)));
  for (int i = 0; i < 1000; ++i) {
    for (int j = 0; j < 3; ++j) ASSERT_EQ(tall.at(i, j), j * 1000 + i);
  }
}

TEST_F(Npy, ReadsOneDimensionAsOneFeature) {
  for (const char* shape : {"(6,)", "(6, 1)", "(6L,)"}) {
    for (const char* order : {"False", "True"}) {
      const Matrix matrix = read(npy(dictionary("<f4", order, shape), bytes_of(kFloats)));
      EXPECT_EQ(matrix.rows, 6);
      EXPECT_EQ(matrix.columns, 1);
      EXPECT_EQ(values(matrix), kDoubles);
    }
  }
  EXPECT_EQ(read(npy(dictionary("<f4", "True", "(1, 6)"), bytes_of(kFloats))).columns, 6);
}

TEST_F(Npy, ReadsAnyWayToWriteTheDictionary) {
  EXPECT_EQ(values(read(npy("{\"shape\":(2,3),\"descr\":\"<f4\",\"fortran_order\":False}",
                            bytes_of(kFloats)))),
            kDoubles);
}

TEST_F(Npy, ReadsDataThatIsNotAligned) {
  for (const std::size_t shift : {1, 4}) {
    const Matrix matrix =
        read(npy(dictionary("<f8", "False", "(2, 3)"), bytes_of(kDoubles), 1, shift));
    EXPECT_EQ(values(matrix), kDoubles);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(matrix.data) % alignof(double), 0u);
  }
}

TEST_F(Npy, PassesOverWhatFollowsTheArray) {
  EXPECT_EQ(values(read(npy(dictionary("<f4", "False", "(2, 3)"), bytes_of(kFloats) + "more"))),
            kDoubles);
}

TEST_F(Npy, KeepsTheMappingAfterTheFileIsGone) {
  const auto file =
      folder_.write("t.npy", npy(dictionary("<f4", "False", "(2, 3)"), bytes_of(kFloats)));
  const Matrix matrix = read_npy(file);
  std::filesystem::remove(file);
  EXPECT_EQ(values(matrix), kDoubles);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(matrix.data) % 64, 0u);
}

TEST_F(Npy, NamesTheDatasetByItsFile) {
  const auto file =
      folder_.write("t.npy", npy(dictionary("<f4", "False", "(2, 3)"), bytes_of(kFloats)));
  EXPECT_EQ(read_npy_dataset(file).name(), "t.npy");
  std::vector<float> bad = kFloats;
  bad[4] = std::numeric_limits<float>::infinity();
  folder_.write("t.npy", npy(dictionary("<f4", "False", "(2, 3)"), bytes_of(bad)));
  const std::string message = message_of<InputError>([&] { read_npy_dataset(file); });
  EXPECT_NE(message.find("t.npy: row 1, column 1"), std::string::npos) << message;
}

TEST_F(Npy, RefusesOtherFiles) {
  EXPECT_EQ(refusal("1,2,3\n4,5,6\n"), "is not an .npy file: it does not begin with \\x93NUMPY");
  EXPECT_EQ(refusal(""), "is not an .npy file: it does not begin with \\x93NUMPY");
  std::string future = npy(dictionary("<f4", "False", "(2, 3)"), bytes_of(kFloats));
  future[6] = 4;
  EXPECT_EQ(refusal(future), "the .npy version 4.0 is unknown; 1.0, 2.0 and 3.0 are read");
  const auto missing = folder_.path() / "missing.npy";
  EXPECT_EQ(message_of<InputError>([&] { read_npy(missing); }),
            missing.string() + ": cannot open the file: No such file or directory");
}

TEST_F(Npy, RefusesOtherTypes) {
  const auto type = [&](const char* descr) {
    return refusal(npy(dictionary(descr, "False", "(2, 3)"), bytes_of(kDoubles)));
  };
  for (const char* descr : {"<i16", "<f16", "<c8", "|O", "", "<", "<<f4", "f4 ", "<M8[s]"}) {
    EXPECT_EQ(type(descr), "the array holds values of type '"s + descr +
                               "'; integers of up to 64 bits, float16, float32 or float64 are "
                               "needed");
  }
  EXPECT_EQ(refusal(npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (6,), }",
                        bytes_of(kFloats))),
            "the array holds records of several fields; float32 or float64 values are needed");
}

TEST_F(Npy, RefusesOtherShapes) {
  const auto shape = [&](const char* text) {
    return refusal(npy(dictionary("<f4", "False", text), bytes_of(kFloats)));
  };
  EXPECT_EQ(shape("()"), "the array has the shape (); rows by columns are needed");
  EXPECT_EQ(shape("(1, 2, 3)"), "the array has the shape (1, 2, 3); rows by columns are needed");
  EXPECT_EQ(shape("(0, 3)"), "the array has the shape (0, 3): it holds no values");
  EXPECT_EQ(shape("(0,)"), "the array has the shape (0,): it holds no values");
  EXPECT_EQ(shape("(3, 0)"), "the array has the shape (3, 0): it holds no values");
  EXPECT_EQ(shape("(4611686018427387904, 4)"),
            "the array has the shape (4611686018427387904, 4), which overflows 64-bit sizes");
  EXPECT_EQ(shape("(2305843009213693952, 1)"),
            "the array has the shape (2305843009213693952, 1), which overflows 64-bit sizes");
  EXPECT_EQ(shape("(9223372036854775808, 1)"),
            "the .npy header is damaged: a size in 'shape' overflows 64 bits");
  EXPECT_EQ(shape("(-2, 3)"), "the .npy header is damaged: 'shape' is not a tuple of sizes");
  EXPECT_EQ(shape("(2.5, 3)"), "the .npy header is damaged: ')' is missing before '.5, 3), }'");
  EXPECT_EQ(shape("6"), "the .npy header is damaged: '(' is missing before '6, }'");
}

TEST_F(Npy, RefusesFilesThatAreCutShort) {
  const std::string whole = npy(dictionary("<f4", "False", "(2, 3)"), bytes_of(kFloats));
  EXPECT_EQ(refusal(whole.substr(0, whole.size() - 1)),
            "the file is truncated: the shape (2, 3) needs 24 bytes, 23 are there");
  EXPECT_EQ(refusal(npy(dictionary("<f8", "False", "(1000000, 3)"), "")),
            "the file is truncated: the shape (1000000, 3) needs 24000000 bytes, 0 are there");
  for (const std::size_t length : {6, 7, 8, 9, 10, 40, 127}) {
    EXPECT_EQ(refusal(whole.substr(0, length)), "the file ends inside its .npy header") << length;
  }
  const std::string second = npy(dictionary("<f4", "False", "(2, 3)"), bytes_of(kFloats), 2);
  EXPECT_EQ(refusal(second.substr(0, 11)), "the file ends inside its .npy header");
  EXPECT_EQ(refusal("\x93NUMPY\x02\0\xff\xff\xff\xff{}"s), "the file ends inside its .npy header");
}

TEST_F(Npy, RefusesDamagedDictionaries) {
  const auto damage = [&](const std::string& text) {
    const std::string message = refusal(npy(text, bytes_of(kFloats)));
    const std::string prefix = "the .npy header is damaged: ";
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
  };
  EXPECT_EQ(damage("{'descr': '<f4', 'fortran_order': False, }"),
            "one of the keys 'descr', 'fortran_order' and 'shape' is missing");
  EXPECT_EQ(damage("{}"), "one of the keys 'descr', 'fortran_order' and 'shape' is missing");
  EXPECT_EQ(damage("{'descr': '<f4', 'color': 1}"), "the key 'color' is unknown or occurs twice");
  EXPECT_EQ(damage("{'descr': '<f4', 'descr': '<f4'}"),
            "the key 'descr' is unknown or occurs twice");
  EXPECT_EQ(damage("{'fortran_order': 0}"), "'fortran_order' is neither True nor False");
  EXPECT_EQ(damage("{'descr': '<f4"), "a string has no end");
  EXPECT_EQ(damage("{'descr': '<f4',"), "'\"' is missing at the end");
  EXPECT_EQ(damage("{'descr' '<f4'}").substr(0, 18), "':' is missing bef");
  EXPECT_EQ(damage("{'descr': '<f4' 'shape': (6,)}").substr(0, 18), "'}' is missing bef");
  EXPECT_EQ(damage("nothing").substr(0, 18), "'{' is missing bef");
  EXPECT_EQ(damage(dictionary("<f4", "False", "(2, 3)") + " x"), "text follows the dictionary");
}

TEST_F(Npy, WritesWhatNumPyWouldWrite) {
  const auto file = folder_.path() / "out.npy";
  write_npy(file, kDoubles, 3);
  EXPECT_EQ(TemporaryFolder::read(file),
            npy(dictionary("<f8", "False", "(2, 3)"), bytes_of(kDoubles)));
  write_npy(file, kDoubles);
  EXPECT_EQ(TemporaryFolder::read(file),
            npy(dictionary("<f8", "False", "(6,)"), bytes_of(kDoubles)));
  write_npy(file, std::vector<std::int32_t>{2, 0, -1});
  EXPECT_EQ(TemporaryFolder::read(file),
            npy(dictionary("<i4", "False", "(3,)"), bytes_of(std::vector<std::int32_t>{2, 0, -1})));
  write_npy(file, Matrix::from_values(kFloats, 3, 2));
  EXPECT_EQ(TemporaryFolder::read(file),
            npy(dictionary("<f4", "False", "(3, 2)"), bytes_of(kFloats)));
}

TEST_F(Npy, WritesStridedRowsWithoutTheirGaps) {
  Matrix matrix = Matrix::from_values(kFloats, 2, 3);
  matrix.columns = 2;
  const auto file = folder_.path() / "out.npy";
  write_npy(file, matrix);
  const Matrix back = read_npy(file);
  EXPECT_EQ(back.stride, 2);
  EXPECT_EQ(values(back), (Values{1.5, 2, 4, 5}));
}

TEST_F(Npy, RefusesToWriteIncompleteTables) {
  const auto file = folder_.path() / "out.npy";
  EXPECT_EQ(message_of<InputError>([&] { write_npy(file, kDoubles, 4); }),
            file.string() + ": 6 values are not whole rows of 4 columns");
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace lloyd
