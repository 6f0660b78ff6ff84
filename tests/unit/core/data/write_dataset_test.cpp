// write_dataset: data sets in memory and read in blocks; data sets that are refused. Also tests
// that the floating-point modes of the caller have no effect on reading and writing.
#include <unistd.h>

#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/criteria.hpp>
#include <lloyd/data/blobs.hpp>
#include <lloyd/data/copy_rows.hpp>
#include <lloyd/data/files.hpp>
#include <lloyd/data/hdf5.hpp>
#include <lloyd/data/row_source.hpp>
#include <lloyd/data/row_views.hpp>
#include <lloyd/data/row_writer.hpp>
#include <lloyd/data/sample_rows.hpp>
#include <lloyd/error.hpp>
#include <lloyd/evaluation.hpp>
#include <lloyd/kmeans.hpp>
#include <lloyd/standardize.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

// Four samples of two features.
Dataset four_samples() {
  return Dataset("four", Matrix::from_values(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2));
}

TEST(RowWriters, RefuseInvalidTables) {
  const TemporaryFolder folder;
  for (const std::string extension : {".csv", ".npy", ".fvecs"}) {
    const std::filesystem::path file = folder.path() / ("rows" + extension);
    const auto refusal = [&](const TableFormat& table) {
      return message_of<InputError>([&] { create_rows(file, table); });
    };
    EXPECT_EQ(refusal({}), file.string() + ": the table has 0 features; at least 1 is needed");
    EXPECT_EQ(refusal({.features = 3, .feature_names = {"a", "b"}}),
              file.string() + ": there are 2 feature names for 3 features");
    EXPECT_EQ(refusal({.features = 3, .dtype = static_cast<DType>(7)}),
              file.string() + ": the dtype is 7; it must be DType::float32 or float64");
    EXPECT_EQ(
        refusal({.features = 3, .rows = -5}),
        file.string() + ": the number of rows is -5; it must be 0, if it is unknown, or more");
    EXPECT_FALSE(std::filesystem::exists(file));
  }
}

TEST(RowWriters, RefuseClassesOfAnotherNumberThanRows) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "rows.csv";
  const float values[] = {1, 2, 3, 4};
  const auto writer = create_rows(file, {.features = 2, .has_classes = true});
  const std::vector<std::string> one = {"a"};
  for (const std::span<const std::string> classes : {std::span<const std::string>(), {one}}) {
    EXPECT_EQ(message_of<InputError>([&] { writer->write(values, 2, classes); }),
              file.string() + ": the number of classes is " + std::to_string(classes.size()) +
                  ", that of rows 2; a table with classes needs one per row");
  }
  writer->write(values, 1, one);
  writer->commit();
  EXPECT_EQ(TemporaryFolder::read(file), "1,2,a\n");
}

TEST(RowWriters, RefuseNullValuesNegativeRowsAndCallsAfterCommit) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "rows.csv";
  const float values[] = {1, 2, 3, 4};
  const auto writer = create_rows(file, {.features = 2});
  EXPECT_EQ(message_of<InputError>([&] { writer->write(values, -1); }),
            file.string() + ": -1 rows cannot be written");
  EXPECT_EQ(message_of<InputError>([&] { writer->write(nullptr, 2); }),
            file.string() + ": the values of 2 rows are null");
  writer->write(values, 2);
  writer->commit();
  const std::string complete =
      file.string() + ": commit() was called before; a writer writes one file";
  EXPECT_EQ(message_of<InputError>([&] { writer->write(values, 2); }), complete);
  EXPECT_EQ(message_of<InputError>([&] { writer->commit(); }), complete);
  EXPECT_EQ(TemporaryFolder::read(file), "1,2\n3,4\n");
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

// feenableexcept() belongs to glibc.
#ifdef __GLIBC__
// Runs the body in a child process whose floating-point exceptions are signals.
void expect_no_trap(const std::string& name, const std::function<void()>& body) {
  EXPECT_EXIT(
      {
        std::feclearexcept(FE_ALL_EXCEPT);
        ::feenableexcept(FE_ALL_EXCEPT);
        body();
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "")
      << name;
}

TEST(FloatTraps, DoNotEndReadingWritingAndFitting) {
  const TemporaryFolder folder;
  const Dataset blobs = make_blobs({.samples = 200, .features = 3, .dtype = DType::float64});
  std::map<std::string, std::filesystem::path> paths;  // std::filesystem::path computes, too
  for (const char* name : {"d.csv", "d.npy", "d.fvecs", "m.json", "copy.csv", "copy.npy", "w.csv",
                           "w.npy", "w.fvecs", "s.json"}) {
    paths.emplace(name, folder.path() / name);
  }
  const auto file = [&](const char* name) { return paths.at(name); };
  for (const char* name : {"d.csv", "d.npy"}) write_dataset(file(name), blobs);
  const Dataset narrow = make_blobs({.samples = 200, .features = 3});
  write_dataset(file("d.fvecs"), narrow);
  const std::filesystem::path commas = folder.write("c.csv", "a;b\n1.234,1;2\n3,7;4\n");
  const Fit fit = kmeans(blobs, 3);
  fit.save(file("m.json"));
  const Model model = Model::load(file("m.json"));
  const auto source = std::shared_ptr<const RowSource>(open_rows(file("d.npy")));
  FileOptions options;
  options.csv.delimiter = ';';
  options.csv.decimal_comma = true;
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"make_blobs", [] { make_blobs({.samples = 200, .features = 3}); }},
      {"check_blobs", [] { check_blobs({.samples = 200, .std = 0.1, .box = 0.3}); }},
      {"read .csv", [&] { read_dataset(file("d.csv")); }},
      {"read .csv with commas", [&] { read_dataset(commas, options); }},
      {"read .npy", [&] { read_dataset(file("d.npy")); }},
      {"read .fvecs", [&] { read_dataset(file("d.fvecs")); }},
      {"matrix_of", [&] { matrix_of(*open_rows(file("d.npy"))); }},
      {"a data set in blocks", [&] { Dataset(source, 64); }},
      {"copy_file", [&] { copy_file(file("d.npy"), {}, file("copy.csv")); }},
      {"copy to float32",
       [&] { copy_file(file("d.npy"), {}, file("copy.npy"), {.dtype = DType::float32}); }},
      {"copy text", [&] { copy_file(file("d.csv"), {}, file("copy.npy")); }},
      {"write .csv", [&] { write_dataset(file("w.csv"), blobs); }},
      {"write .npy", [&] { write_dataset(file("w.npy"), blobs); }},
      {"write .fvecs", [&] { write_dataset(file("w.fvecs"), narrow); }},
      {"write_matrix", [&] { write_matrix(file("w.csv"), fit.centroids, 3); }},
      {"sample_rows", [&] { sample_rows(blobs, {.samples = 50}); }},
      {"standardize", [&] { standardize(blobs); }},
      {"standardize rows",
       [&] { matrix_of(*standardize(source, Standardization::of(blobs.statistics()))); }},
      {"load a model", [&] { Model::load(file("m.json")); }},
      {"save a model", [&] { model.save(file("s.json")); }},
      {"predict", [&] { model.predict(blobs.matrix()); }},
      {"kmeans", [&] { kmeans(blobs, 3); }},
      {"a fit in blocks", [&] { kmeans(Dataset(source, 64), 3); }},
      {"seed_centroids", [&] { seed_centroids(blobs, 3, {}); }},
      {"inertia", [&] { inertia(blobs, fit.centroids, fit.labels); }},
      {"cluster_criteria", [&] { cluster_criteria(blobs, fit.labels, 3); }},
      {"simplified_silhouette", [&] { simplified_silhouette(blobs, fit.labels, 3); }},
      {"adjusted_rand_index", [&] { adjusted_rand_index(fit.labels, fit.labels); }},
  };
  for (const auto& [name, call] : calls) expect_no_trap(name, call);
}
#endif

}  // namespace
}  // namespace lloyd
