#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/data/copy_rows.hpp>
#include <lloyd/data/csv.hpp>
#include <lloyd/data/files.hpp>
#include <lloyd/data/hdf5.hpp>
#include <lloyd/data/row_views.hpp>
#include <lloyd/data/row_writer.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>

#include "unit/support/file_size_limit.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

namespace fs = std::filesystem;

// The extensions that can be written here.
std::vector<std::string> formats() {
  std::vector<std::string> names = writable_extensions();
  if (!hdf5_supported())
    std::erase_if(
        names, [](const std::string& name) { return find_format("x" + name) == FileFormat::hdf5; });
  return names;
}

// False if the format refuses values of this type, for which it must give the reason.
bool holds(const std::string& extension, DType dtype) {
  const TemporaryFolder folder;
  const std::string message = message_of<InputError>(
      [&] { create_rows(folder.path() / ("t" + extension), {.features = 1, .dtype = dtype}); });
  if (message == "(nothing was thrown)") return true;
  EXPECT_NE(message.find("holds float32 values"), std::string::npos) << message;
  return false;
}

const BlobsSpec kSpec{.samples = 3000, .features = 3, .centers = 4, .seed = 11};

FileOptions as(DType dtype) {
  FileOptions options;
  options.csv.dtype = dtype;
  return options;
}

TEST(CopyRows, KeepsEveryBitBetweenAnyTwoFormats) {
  const TemporaryFolder folder;
  for (const DType dtype : {DType::float32, DType::float64}) {
    BlobsSpec spec = kSpec;
    spec.dtype = dtype;
    const std::uint64_t fingerprint = make_blobs(spec).fingerprint();
    for (const std::string& from : formats()) {
      if (!holds(from, dtype)) continue;
      const fs::path first = folder.path() / ("a" + from);
      copy_rows(*blob_rows(spec), first);
      EXPECT_EQ(read_dataset(first, as(dtype)).fingerprint(), fingerprint) << from;
      for (const std::string& to : formats()) {
        if (!holds(to, dtype)) continue;
        const fs::path second = folder.path() / ("b" + to);
        const CopiedRows copied = copy_file(first, as(dtype), second);
        EXPECT_EQ(copied.samples, 3000);
        EXPECT_EQ(copied.features, 3);
        EXPECT_EQ(read_dataset(second, as(dtype)).fingerprint(), fingerprint) << from << to;
      }
    }
  }
}

TEST(CopyRows, WritesTheSameBytesWithAnyNumberOfThreads) {
  const TemporaryFolder folder;
  BlobsSpec spec = kSpec;
  spec.samples = 700001;  // more than one block, and not a multiple of the block size
  copy_rows(*blob_rows(spec), folder.path() / "1.npy");
  const std::string bytes = TemporaryFolder::read(folder.path() / "1.npy");
  EXPECT_EQ(bytes.size(), 128u + 700001u * 3 * 4);
  for (const std::int64_t threads : {2, 3, 7}) {
    copy_rows(*blob_rows(spec), folder.path() / "t.npy", {.threads = threads});
    EXPECT_TRUE(TemporaryFolder::read(folder.path() / "t.npy") == bytes) << threads;
  }
  EXPECT_EQ(read_dataset(folder.path() / "1.npy").fingerprint(), make_blobs(spec).fingerprint());
}

TEST(CopyRows, ChangesTheDtype) {
  const TemporaryFolder folder;
  const fs::path wide = folder.path() / "wide.npy", back = folder.path() / "back.npy";
  copy_rows(*blob_rows(kSpec), wide, {.dtype = DType::float64});
  EXPECT_EQ(read_dataset(wide).dtype(), DType::float64);
  copy_file(wide, {}, back, {.dtype = DType::float32});
  EXPECT_EQ(read_dataset(back).fingerprint(), make_blobs(kSpec).fingerprint());
  // Text is parsed in the target type, without an intermediate rounding.
  const auto text = folder.write("t.csv", "0.1\n0.3\n");
  copy_file(text, {}, wide, {.dtype = DType::float64});
  EXPECT_EQ(read_dataset(wide).matrix().at(0, 0), 0.1);
}

TEST(CopyRows, KeepsNamesAndClassesFromTextToText) {
  const TemporaryFolder folder;
  const std::string text = "x,y,kind of\n1,2,a\n3,4,\"b,c\"\n";
  const std::string written = "x,y,\"kind of\"\n1,2,a\n3,4,\"b,c\"\n";
  const fs::path out = folder.path() / "out.csv";
  copy_file(folder.write("t.csv", text), {}, out);
  EXPECT_EQ(TemporaryFolder::read(out), written);
  write_csv(out, read_csv(folder.path() / "t.csv"));
  EXPECT_EQ(TemporaryFolder::read(out), written);
  FileOptions options;
  options.csv.columns = {"y"};
  copy_file(folder.write("t.csv", text), options, out);
  EXPECT_EQ(TemporaryFolder::read(out), "y\n2\n4\n");
}

TEST(CopyRows, ReadsTextOfManyBlocks) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 1200000; ++i)
    text += std::to_string(i % 1000) + "\n";  // exceeds one block of rows
  const auto file = folder.write("t.csv", text);
  const fs::path out = folder.path() / "out.csv";
  const CopiedRows copied = copy_file(file, {}, out);
  EXPECT_EQ(copied.samples, 1200000);
  EXPECT_TRUE(TemporaryFolder::read(out) == text);
}

TEST(CopyRows, CanReplaceTheFileItReads) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "t.npy";
  copy_rows(*blob_rows(kSpec), file);
  copy_file(file, {}, file, {.dtype = DType::float64});
  EXPECT_EQ(read_dataset(file).dtype(), DType::float64);
}

TEST(CopyRows, RefusesValuesThatAreNotFiniteOrTooLarge) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "out.npy";
  const auto said = [&](double value, std::optional<DType> dtype) {
    const auto rows = rows_of("m", Matrix::from_values(std::vector<double>{1, 2, 3, value}, 2, 2));
    return message_of<InputError>([&] { copy_rows(*rows, out, {.dtype = dtype}); });
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(said(kInfinity, std::nullopt),
            "m: row 1, column 1 (counted from 0) is inf; all values must be finite");
  EXPECT_EQ(said(std::numeric_limits<double>::quiet_NaN(), DType::float32),
            "m: row 1, column 1 (counted from 0) is nan; all values must be finite");
  EXPECT_EQ(said(-1e300, DType::float32),
            "m: row 1, column 1 (counted from 0) is -1e+300, beyond the range of float32");
  EXPECT_EQ(said(-1e300, DType::float64), "(nothing was thrown)");
  EXPECT_EQ(said(0x1.ffffffp127, DType::float32),
            "m: row 1, column 1 (counted from 0) is 3.4028235677973366e+38, beyond the range of "
            "float32");
}

TEST(CopyRows, NamesValuesByTheirPlaceInTheFile) {
  const TemporaryFolder folder;
  const auto said = [&](double value) {
    std::shared_ptr<const RowSource> rows =
        rows_of("m", Matrix::from_values(std::vector<double>{1, 2, 3, value}, 2, 2));
    rows = select_rows(select_columns(std::move(rows), {1}), {1, 2});
    return message_of<InputError>(
        [&] { copy_rows(*rows, folder.path() / "out.npy", {.dtype = DType::float32}); });
  };
  EXPECT_EQ(said(1e300),
            "m: row 1, column 1 (counted from 0) is 1e+300, beyond the range of float32");
  EXPECT_EQ(said(1e-50).substr(0, 42), "m: row 1, column 1 (counted from 0) is 1e-");
}

TEST(CopyRows, RoundsToTheLargestFloat32) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "out.npy";
  const double below = std::nextafter(0x1.ffffffp127, 0);  // nearer to the largest than to 2^128
  const auto rows =
      rows_of("m", Matrix::from_values(std::vector<double>{1, 2, -below, below}, 2, 2));
  copy_rows(*rows, out, {.dtype = DType::float32});
  const Dataset copied = read_dataset(out);
  EXPECT_EQ(copied.matrix().at(1, 0), -std::numeric_limits<float>::max());
  EXPECT_EQ(copied.matrix().at(1, 1), std::numeric_limits<float>::max());
}

// As for text: a single value may round to zero in float32, a whole column may not.
TEST(CopyRows, RefusesAColumnThatVanishesInFloat32) {
  const TemporaryFolder folder;
  const auto copy = [&](std::vector<double> values, DType dtype) {
    const std::int64_t rows = std::ssize(values) / 2;
    const auto source = rows_of("m", Matrix::from_values(std::move(values), rows, 2));
    copy_rows(*source, folder.path() / "t.npy", {.dtype = dtype});
    return read_dataset(folder.path() / "t.npy").matrix().at(rows - 1, 1);
  };
  EXPECT_EQ(message_of<InputError>([&] {
              copy({1, 0, 2, 1e-50, 3, -1e-60}, DType::float32);
            }),
            "m: row 1, column 1 (counted from 0) is 1e-50, too small for float32, like all other "
            "nonzero values of the column; set the dtype option to float64");
  EXPECT_FALSE(fs::exists(folder.path() / "t.npy"));
  EXPECT_EQ(copy({1, 1, 3, 1e-50}, DType::float32), 0) << "1 stays in the column";
  EXPECT_EQ(copy({1, 0, 3, 0}, DType::float32), 0) << "0 is 0 in any type";
  EXPECT_EQ(copy({1, 1e-50, 3, 1e-50}, DType::float64), 1e-50);
}

TEST(CopyRows, ReportsProgressAndCanBeStopped) {
  const TemporaryFolder folder;
  BlobsSpec spec = kSpec;
  spec.samples = 1000000;
  const fs::path out = folder.write("out.npy", "before");
  std::vector<double> parts;
  CopyOptions options;
  options.progress = [&](std::int64_t rows, double part) {
    EXPECT_DOUBLE_EQ(part, static_cast<double>(rows) / 1e6);
    parts.push_back(part);
    return parts.size() < 2;
  };
  EXPECT_THROW(copy_rows(*blob_rows(spec), out, options), Cancelled);
  EXPECT_EQ(parts.size(), 2u);
  EXPECT_EQ(TemporaryFolder::read(out), "before");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1)
      << "a temporary file was left";
}

TEST(CopyRows, KeepsTheOldFileIfTheDiskIsFull) {
  const TemporaryFolder folder;
  for (const std::string& format : formats()) {
    const fs::path file = folder.write("t" + format, "before");
    BlobsSpec spec = kSpec;
    spec.samples = 400000;
    std::string message;
    {
      // The limit equals the size of the values: no format is refused beforehand, and none fits.
      const FileSizeLimit limit(400000 * 3 * sizeof(float));
      message = message_of<Error>([&] { copy_rows(*blob_rows(spec), file); });
    }
    EXPECT_EQ(message, file.string() + ": cannot write the file: File too large");
    EXPECT_EQ(TemporaryFolder::read(file), "before");
    fs::remove(file);
    EXPECT_TRUE(fs::is_empty(folder.path())) << "a temporary file was left";
  }
}

TEST(CopyRows, RefusesDataThatDoesNotFitBeforeItWrites) {
  const TemporaryFolder folder;
  for (const std::string& format : formats()) {
    const fs::path file = folder.path() / ("t" + format);
    const FileSizeLimit limit(4096);
    EXPECT_EQ(message_of<InputError>([&] { copy_rows(*blob_rows(kSpec), file); }),
              file.string() + ": the file needs at least " +
                  (format == ".csv" ? "18000" : "36000") +
                  " bytes, but the limit for a file's size (ulimit -f) is 4096 bytes");
    EXPECT_TRUE(fs::is_empty(folder.path()));
  }
}

TEST(CopyRows, RefusesOtherExtensionsBeforeItWrites) {
  EXPECT_EQ(message_of<InputError>([] { copy_rows(*blob_rows(kSpec), "out.csv.gz"); }),
            "out.csv.gz: the extension '.gz' is unknown; " +
                enumerated(writable_extensions(), "and") + " are known");
}

}  // namespace
}  // namespace lloyd
