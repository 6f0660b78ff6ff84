// write_dataset: data sets in memory and read in blocks; data sets that are refused.
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/data/files.hpp>
#include <lloyd/data/hdf5.hpp>
#include <lloyd/data/row_source.hpp>
#include <lloyd/data/sample_rows.hpp>
#include <lloyd/error.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

// Four samples of two features.
Dataset four_samples() {
  return Dataset("four", Matrix::from_values(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2));
}

TEST(WriteDataset, OfDataReadInBlocksGivesTheFileOfDataInMemory) {
  const TemporaryFolder folder;
  // Two blocks of about 4 MiB.
  std::vector<float> values(64 * 17'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Dataset memory("values", Matrix::from_values(std::move(values), 17'000, 64));
  const Dataset blocks(rows_of("values", memory.matrix()), 10'000);
  for (const std::string& extension : writable_extensions()) {
    if (!hdf5_supported() && find_format("x" + extension) == FileFormat::hdf5) continue;
    if (extension == ".csv") continue;  // takes seconds; see the next test
    const std::filesystem::path expected = folder.path() / ("memory" + extension);
    const std::filesystem::path written = folder.path() / ("blocks" + extension);
    write_dataset(expected, memory);
    write_dataset(written, blocks);
    EXPECT_EQ(read_dataset(written).fingerprint(), memory.fingerprint()) << extension;
    if (find_format(written) == FileFormat::hdf5) continue;  // holds the time
    EXPECT_EQ(TemporaryFolder::read(written), TemporaryFolder::read(expected)) << extension;
  }
}

TEST(WriteDataset, OfDataReadInBlocksKeepsNamesAndClasses) {
  const TemporaryFolder folder;
  Dataset blocks(rows_of("four", four_samples().matrix()), 3);
  blocks.feature_names = {"x", "y"};
  blocks.classes = {"a", "b", "c", "d"};
  const std::filesystem::path file = folder.path() / "four.csv";
  write_dataset(file, blocks);
  EXPECT_EQ(TemporaryFolder::read(file), "x,y,class\n1,2,a\n3,4,b\n5,6,c\n7,8,d\n");
}

TEST(WriteDataset, RefusesADataSetThatWasMovedFrom) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "four.csv";
  const std::string expected =
      "the data set has no samples, because it was moved from; use the object that it was moved to";
  Dataset original = four_samples();
  const Dataset moved = std::move(original);
  const Dataset& dataset = original;  // NOLINT(bugprone-use-after-move): that is tested
  EXPECT_EQ(message_of<InputError>([&] { write_dataset(file, dataset); }), expected);
  EXPECT_EQ(message_of<InputError>([&] { sample_rows(dataset, {}); }), expected);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(WriteDataset, RefusesAWrongNumberOfClasses) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "four.csv";
  Dataset dataset = four_samples();
  dataset.classes = {"a"};
  const std::string expected = "four: there are 1 classes for 4 samples";
  EXPECT_EQ(message_of<InputError>([&] { write_dataset(file, dataset); }), expected);
  EXPECT_EQ(message_of<InputError>([&] { sample_rows(dataset, {}); }), expected);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(WriteDataset, RefusesAWrongNumberOfFeatureNames) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "four.csv";
  Dataset dataset = four_samples();
  dataset.feature_names = {"x"};
  EXPECT_EQ(message_of<InputError>([&] { write_dataset(file, dataset); }),
            "four: there are 1 feature names for 2 features");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(ReadDataset, DoesNotDependOnTheRoundingModeOfTheCaller) {
  const TemporaryFolder folder;
  const Dataset blobs = make_blobs({.samples = 200, .features = 3, .dtype = DType::float64});
  const std::filesystem::path file = folder.path() / "blobs.csv";
  write_dataset(file, blobs);
  FileOptions options;
  options.csv.dtype = DType::float64;
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(rounding);
    const std::uint64_t found = read_dataset(file, options).fingerprint();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(found, blobs.fingerprint()) << rounding;
  }
}

}  // namespace
}  // namespace lloyd
