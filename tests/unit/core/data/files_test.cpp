#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>

#include "unit/support/file_size_limit.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

namespace fs = std::filesystem;

const std::vector<double> kValues = {1, 2, 3, 4};
const std::vector<std::int32_t> kLabels = {1, 0};

std::ptrdiff_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(Files, AreReadByTheirExtension) {
  const TemporaryFolder folder;
  for (const char* name : {"a.csv", "a.txt", "A.CSV"}) {
    EXPECT_EQ(read_dataset(folder.write(name, "1,2\n3,4\n")).features(), 2) << name;
  }
  for (const char* name : {"a.tsv", "A.TSV"}) {
    EXPECT_EQ(read_dataset(folder.write(name, "1\t2\t5\n3\t4\t6\n")).features(), 3) << name;
  }
  FileOptions options;
  options.csv.delimiter = ';';
  EXPECT_EQ(read_dataset(folder.write("b.tsv", "1;2\n"), options).features(), 2);
}

TEST(Files, AreWrittenByTheirExtension) {
  const TemporaryFolder folder;
  write_matrix(folder.path() / "m.csv", kValues, 2);
  EXPECT_EQ(TemporaryFolder::read(folder.path() / "m.csv"), "1,2\n3,4\n");
  write_matrix(folder.path() / "m.NPY", kValues, 2);
  const Dataset back = read_dataset(folder.path() / "m.NPY");
  EXPECT_EQ(back.dtype(), DType::float64);
  EXPECT_EQ(back.matrix().at(1, 0), 3);
  write_labels(folder.path() / "l.csv", kLabels);
  EXPECT_EQ(TemporaryFolder::read(folder.path() / "l.csv"), "1\n0\n");
  write_labels(folder.path() / "l.npy", kLabels);
  EXPECT_EQ(fs::file_size(folder.path() / "l.npy"), 128u + 8u);
  EXPECT_EQ(files_in(folder.path()), 4) << "a temporary file was left";
}

TEST(Files, OfAnotherExtensionAreRefused) {
  const std::string known =
      enumerated(readable_extensions(), "and") + " (text also with .gz) are known";
  EXPECT_EQ(message_of<InputError>([] { read_dataset("points.parquet"); }),
            "points.parquet: the extension '.parquet' is unknown; " + known +
                "; python3 -c 'import pandas, sys; pandas.read_parquet(sys.argv[1]).to_csv("
                "sys.argv[2], index=False)' points.parquet points.csv converts it");
  EXPECT_EQ(message_of<InputError>([] { read_dataset("no-such-points"); }),
            "no-such-points: the file does not exist");
  EXPECT_EQ(message_of<InputError>([] { read_dataset(""); }), "the path of the data file is empty");
  EXPECT_EQ(message_of<InputError>([] { read_dataset("/"); }), "/ is a folder; a file is needed");
  EXPECT_EQ(message_of<InputError>([] { read_dataset("/proc/version"); }),
            "/proc/version: the extension '' is unknown; " + known +
                "; if it is text, give it an extension of text");
  EXPECT_EQ(message_of<InputError>([] { write_matrix("points.txt", kValues, 2); }),
            "points.txt: the extension '.txt' is unknown; .csv and .npy are known");
  EXPECT_EQ(message_of<InputError>([] { write_labels("labels.json", kLabels); }),
            "labels.json: the extension '.json' is unknown; .csv and .npy are known");
}

TEST(Files, AreReadAndWrittenByTheListedExtensions) {
  const TemporaryFolder folder;
  std::vector<std::string> readable = readable_extensions();
  for (const std::string& extension : readable) {
    EXPECT_TRUE(find_format("x" + extension)) << extension;
    const fs::path missing = folder.path() / ("x" + extension);
    for (const auto& open : std::vector<std::function<void()>>{[&] { read_dataset(missing); },
                                                               [&] { open_rows(missing); }}) {
      EXPECT_EQ(message_of<InputError>(open).find("is unknown"), std::string::npos) << extension;
    }
  }
  for (const std::string& extension : writable_extensions()) {
    EXPECT_EQ(std::count(readable.begin(), readable.end(), extension), 1) << extension;
  }
  EXPECT_EQ(enumerated({"a", "b", "c"}, "or"), "a, b or c");
  EXPECT_EQ(enumerated({"a"}, "or"), "a");
}

TEST(Files, ThatCannotBeWrittenSayWhy) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "missing" / "m.csv";
  EXPECT_EQ(message_of<Error>([&] { write_matrix(file, kValues, 2); }),
            file.string() + ": cannot write the file: " + file.parent_path().string() +
                " is not a folder");
  const fs::path occupied = folder.path() / "m.npy";
  fs::create_directory(occupied);
  EXPECT_EQ(message_of<Error>([&] { write_matrix(occupied, kValues, 2); }),
            occupied.string() + ": cannot write the file: it exists and is not a regular file");
}

TEST(Files, StayWhatTheyWereWhenWritingFails) {
  const TemporaryFolder folder;
  const std::vector<double> many(100000, 0.125);
  for (const char* name : {"m.csv", "m.npy"}) {
    const fs::path file = folder.write(name, "before");
    std::string message;
    {
      const FileSizeLimit limit(4096);
      message = message_of<Error>([&] { write_matrix(file, many, 1); });
    }
    EXPECT_EQ(message, file.string() + ": cannot write the file: File too large");
    EXPECT_EQ(TemporaryFolder::read(file), "before");
  }
  EXPECT_EQ(files_in(folder.path()), 2) << "a temporary file was left";
}

TEST(Files, TooShortForTheBufferStillFailWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "m.csv";
  std::string message;
  {
    const FileSizeLimit limit(3);
    message = message_of<Error>([&] { write_matrix(file, kValues, 2); });
  }
  EXPECT_EQ(message, file.string() + ": cannot write the file: File too large");
  EXPECT_EQ(files_in(folder.path()), 0);
}

TEST(Files, AreWrittenThroughLinksAndWithOrdinaryRights) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("real.csv", "before");
  const fs::path link = folder.path() / "link.csv";
  fs::create_symlink(file, link);
  write_matrix(link, kValues, 2);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(TemporaryFolder::read(file), "1,2\n3,4\n");

  const mode_t mask = ::umask(022);
  write_matrix(folder.path() / "new.csv", kValues, 2);
  ::umask(mask);
  EXPECT_EQ(fs::status(folder.path() / "new.csv").permissions(), static_cast<fs::perms>(0644));
}

}  // namespace
}  // namespace lloyd
