#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <lloyd/data/backing_file.hpp>
#include <lloyd/data/blobs.hpp>
#include <lloyd/data/files.hpp>
#include <lloyd/data/row_views.hpp>
#include <lloyd/error.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

using Values = std::vector<double>;

// Value of row i, column j; exact in float32.
double value_at(std::int64_t i, std::int64_t j) {
  return static_cast<double>(i * 64 + j) - 0.5;
}

// An .npy file of n rows of d values of type T, byte by byte.
template <class T>
std::string npy(std::int64_t n, std::int64_t d, bool fortran, bool swapped) {
  std::string text = std::string("{'descr': '") + (swapped ? ">" : "<") +
                     (sizeof(T) == 4 ? "f4" : "f8") +
                     "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (" +
                     std::to_string(n) + ", " + std::to_string(d) + "), }";
  text.resize(117, ' ');
  std::string bytes = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text + "\n";
  for (std::int64_t at = 0; at < n * d; ++at) {
    const auto value =
        static_cast<T>(fortran ? value_at(at % n, at / n) : value_at(at / d, at % d));
    char one[sizeof(T)];
    std::memcpy(one, &value, sizeof(T));
    if (swapped) std::reverse(one, one + sizeof(T));
    bytes.append(one, sizeof(T));
  }
  return bytes;
}

Values read(const RowSource& source, RowRange rows) {
  const auto size = static_cast<std::size_t>(rows.size() * source.features());
  if (source.dtype() == DType::float64) {
    Values values(size);
    source.read(rows, values.data());
    return values;
  }
  std::vector<float> values(size);
  source.read(rows, values.data());
  return {values.begin(), values.end()};
}

Values expected(RowRange rows, std::int64_t d) {
  Values values;
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    for (std::int64_t j = 0; j < d; ++j) values.push_back(value_at(i, j));
  }
  return values;
}

TEST(RowSource, OfNpyReadsEveryOrderAndType) {
  const TemporaryFolder folder;
  // More rows and columns than a tile of the conversion from Fortran order.
  constexpr std::int64_t kRows = 10000, kColumns = 21;
  for (const bool fortran : {false, true}) {
    for (const bool swapped : {false, true}) {
      for (const bool wide : {false, true}) {
        const auto file =
            folder.write("t.npy", wide ? npy<double>(kRows, kColumns, fortran, swapped)
                                       : npy<float>(kRows, kColumns, fortran, swapped));
        const auto source = open_rows(file);
        EXPECT_EQ(source->name(), "t.npy");
        EXPECT_EQ(source->samples(), kRows);
        EXPECT_EQ(source->features(), kColumns);
        EXPECT_EQ(source->dtype(), wide ? DType::float64 : DType::float32);
        for (const RowRange rows : {RowRange{0, kRows}, RowRange{0, 1}, RowRange{kRows - 1, kRows},
                                    RowRange{17, 8999}, RowRange{5, 5}}) {
          ASSERT_EQ(read(*source, rows), expected(rows, kColumns))
              << fortran << swapped << wide << " " << rows.begin << " to " << rows.end;
        }
        // Reading into memory gives the same values.
        const Matrix matrix = read_dataset(file).matrix();
        for (std::int64_t i = 0; i < kRows; i += 7) {
          for (std::int64_t j = 0; j < kColumns; ++j) ASSERT_EQ(matrix.at(i, j), value_at(i, j));
        }
      }
    }
  }
}

TEST(RowSource, OfAMatrixLeavesItsGapsOut) {
  Matrix matrix = Matrix::from_values(std::vector<float>{1, 2, 9, 3, 4, 9}, 2, 3);
  matrix.columns = 2;
  const auto source = rows_of("m", matrix);
  EXPECT_EQ(source->name(), "m");
  EXPECT_EQ(read(*source, {0, 2}), (Values{1, 2, 3, 4}));
  EXPECT_EQ(read(*source, {1, 2}), (Values{3, 4}));
}

TEST(RowSource, OfAMatrixRefusesNullPointersAndOtherRows) {
  Matrix matrix = Matrix::from_values(std::vector<float>{1, 2, 3, 4}, 2, 2);
  const auto source = rows_of("m", matrix);
  std::vector<float> values(8);
  for (const RowRange rows : {RowRange{0, 3}, RowRange{-1, 1}, RowRange{2, 1}}) {
    EXPECT_EQ(
        message_of<InputError>([&] { source->read(rows, values.data()); }),
        fmt::format("m: the rows from {} up to {} were requested; there are 2, counted from 0",
                    rows.begin, rows.end));
  }
  matrix.data = nullptr;
  EXPECT_TRUE(message_of<InputError>([&] {
                rows_of("m", matrix);
              }).starts_with("m: the data pointer is null; it must point to the samples"));
}

TEST(RowSource, OfAFileRefusesRowsThatDoNotExist) {
  const TemporaryFolder folder;
  const Dataset data("d", Matrix::from_values(std::vector<float>{1, 2, 3, 4, 5, 6}, 3, 2));
  for (const std::string name : {"a.npy", "a.fvecs"}) {
    const std::filesystem::path file = folder.path() / name;
    write_dataset(file, data);
    const auto source = open_rows(file);
    std::vector<float> values(20);
    EXPECT_EQ(message_of<InputError>([&] {
                source->read({2, 5}, values.data());
              }),
              name + ": the rows from 2 up to 5 were requested; there are 3, counted from 0");
    EXPECT_THROW(source->read({-1, 1}, values.data()), InputError) << name;
    EXPECT_THROW(source->read({2, 1}, values.data()), InputError) << name;
    source->read({3, 3}, values.data());
  }
}

TEST(RowSource, OfBlobsRefusesRowsThatDoNotExist) {
  const auto source = blob_rows({.samples = 10, .features = 1, .centers = 1});
  std::vector<double> values(11);
  EXPECT_THROW(source->read({0, 11}, values.data()), InputError);
}

TEST(RowSource, OfBlobsGivesTheirValuesInAnyOrder) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    const BlobsSpec spec{.samples = 1000, .features = 3, .centers = 5, .seed = 7, .dtype = dtype};
    const Dataset whole = make_blobs(spec);
    const auto source = blob_rows(spec);
    EXPECT_EQ(source->name(), whole.name());
    for (const RowRange rows : {RowRange{999, 1000}, RowRange{0, 1000}, RowRange{300, 701}}) {
      const Values values = read(*source, rows);
      for (std::size_t at = 0; at < values.size(); ++at) {
        const auto i = static_cast<std::int64_t>(at);
        ASSERT_EQ(values[at], whole.matrix().at(rows.begin + i / 3, i % 3));
      }
    }
  }
  EXPECT_EQ(message_of<InputError>([] { blob_rows({.samples = 0}); }),
            "blobs: samples is 0; at least 1 is needed");
}

TEST(RowSource, OfFvecsReadsBlocks) {
  const TemporaryFolder folder;
  std::string floats, bytes;
  constexpr std::int64_t kRows = 30000, kColumns = 10;  // more than a megabyte
  for (std::int64_t i = 0; i < kRows; ++i) {
    for (std::string* text : {&floats, &bytes}) text->append("\x0a\0\0\0", 4);
    for (std::int64_t j = 0; j < kColumns; ++j) {
      const auto value = static_cast<float>(value_at(i, j));
      floats.append(reinterpret_cast<const char*>(&value), 4);
      bytes += static_cast<char>((i + j) % 256);
    }
  }
  const auto source = open_rows(folder.write("t.fvecs", floats));
  for (const RowRange rows : {RowRange{0, kRows}, RowRange{29999, 30000}, RowRange{3, 3}}) {
    ASSERT_EQ(read(*source, rows), expected(rows, kColumns));
  }
  const Values counted = read(*open_rows(folder.write("t.bvecs", bytes)), {250, 252});
  EXPECT_EQ(counted[5], 255);
  EXPECT_EQ(counted[6], 0);
  EXPECT_EQ(counted[10], 251);

  floats[44 * 20000] = 11;
  const auto damaged = open_rows(folder.write("t.fvecs", floats));
  read(*damaged, {0, 20000});
  const std::string message = message_of<InputError>([&] { read(*damaged, {19999, 20001}); });
  EXPECT_NE(message.find("row 20000 (counted from 0) claims 11 values"), std::string::npos);
}

TEST(RowSource, IsReadByThreadsSideBySide) {
  const TemporaryFolder folder;
  constexpr std::int64_t kRows = 4000, kColumns = 5;
  const auto source = open_rows(folder.write("t.npy", npy<float>(kRows, kColumns, true, true)));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (std::int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const RowRange rows{t * 1000, (t + 1) * 1000};
      for (int repeat = 0; repeat < 20; ++repeat) {
        wrong[static_cast<std::size_t>(t)] += read(*source, rows) != expected(rows, kColumns);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::vector<int>{0, 0, 0, 0}));
}

TEST(RowSource, OfAFileThatIsCutMeanwhileSaysSo) {
  const TemporaryFolder folder;
  const auto file = folder.write("t.npy", npy<float>(100, 2, false, false));
  const auto source = open_rows(file);
  std::filesystem::resize_file(file, 128 + 400);
  EXPECT_EQ(message_of<InputError>([&] {
              read(*source, {0, 100});
            }),
            file.string() + ": the file ends at byte 528; it was truncated while it was read");
}

// Changed data would no longer match the statistics, so sums could be wrong.
TEST(RowSource, OfAFileThatIsChangedMeanwhileSaysSo) {
  const TemporaryFolder folder;
  const auto file = folder.write("t.npy", npy<float>(100, 2, false, false));
  const auto source = open_rows(file);
  EXPECT_EQ(read(*source, {0, 50}), expected({0, 50}, 2));
  std::filesystem::last_write_time(
      file, std::filesystem::last_write_time(file) + std::chrono::seconds(1));
  EXPECT_EQ(message_of<InputError>([&] {
              read(*source, {0, 50});
            }),
            file.string() + ": the file was changed while it was in use");
}

// The opened file is still complete, so reading continues from it.
TEST(RowSource, OfAFileThatIsReplacedMeanwhileReadsOn) {
  const TemporaryFolder folder;
  const auto file = folder.write("t.npy", npy<float>(100, 2, false, false));
  const auto source = open_rows(file);
  const Dataset mapped = read_dataset(file);
  std::filesystem::rename(folder.write("other", "something else"), file);
  EXPECT_EQ(read(*source, {0, 100}), expected({0, 100}, 2));
  mapped.check_unchanged();
}

// Two samples of one feature, with the values 1 and 2.
const std::string kFvecs("\1\0\0\0\0\0\x80\x3f\1\0\0\0\0\0\0\x40", 16);

TEST(MappedData, OfAFileThatIsChangedMeanwhileSaysSo) {
  const TemporaryFolder folder;
  const std::pair<const char*, std::string> files[] = {{"t.npy", npy<float>(100, 2, false, false)},
                                                       {"t.fvecs", kFvecs}};
  for (const auto& [name, bytes] : files) {
    const auto file = folder.write(name, bytes);
    const Dataset data = read_dataset(file);
    data.check_unchanged();
    EXPECT_STREQ(mapped_file_at(data.matrix().data), file.c_str());
    const auto saved = std::filesystem::last_write_time(file);
    std::filesystem::last_write_time(file, saved + std::chrono::seconds(1));
    const std::string changed = file.string() + ": the file was changed while it was in use";
    EXPECT_EQ(message_of<InputError>([&] { data.check_unchanged(); }), changed);
    std::filesystem::resize_file(file, bytes.size() + 8);
    std::filesystem::last_write_time(file, saved);
    EXPECT_EQ(message_of<InputError>([&] { data.check_unchanged(); }), changed);
    std::filesystem::resize_file(file, bytes.size() - 8);
    EXPECT_EQ(message_of<InputError>([&] { data.check_unchanged(); }),
              file.string() + ": the file was truncated from " + std::to_string(bytes.size()) +
                  " to " + std::to_string(bytes.size() - 8) + " bytes while it was in use");
  }
  EXPECT_EQ(mapped_file_at(&folder), nullptr);
}

struct timespec status_time(const std::filesystem::path& file) {
  struct stat status = {};
  EXPECT_EQ(::stat(file.c_str(), &status), 0);
  return status.st_ctim;
}

// Applies `change` to a file and restores its modification time; repeats both until its status
// change time differs, since the clock of the file system is coarse.
void touch_status(const std::filesystem::path& file, const std::function<void()>& change) {
  struct stat before = {};
  EXPECT_EQ(::stat(file.c_str(), &before), 0);
  const struct timespec times[] = {before.st_atim, before.st_mtim};
  struct timespec now = before.st_ctim;
  while (now.tv_sec == before.st_ctim.tv_sec && now.tv_nsec == before.st_ctim.tv_nsec) {
    change();
    EXPECT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
    now = status_time(file);
  }
}

// Changes the last value of the file to 1.
void overwrite_in_place(const std::filesystem::path& file) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(-4, std::ios::end);
  stream.write("\0\0\x80\x3f", 4);
  stream.close();
  EXPECT_TRUE(stream);
}

TEST(MappedData, OfAFileWhoseTimeWasPutBackIsFoundByItsValues) {
  const TemporaryFolder folder;
  const std::pair<const char*, std::string> files[] = {{"t.npy", npy<float>(100, 2, false, false)},
                                                       {"t.fvecs", kFvecs}};
  for (const auto& [name, bytes] : files) {
    const auto file = folder.write(name, bytes);
    const std::string changed = file.string() + ": the file was changed while it was in use";
    const Dataset mapped = read_dataset(file);
    const Dataset streamed(open_rows(file), 7);
    // Changed names, links and modes do not change the values.
    const auto link = folder.path() / "link";
    touch_status(file, [&] {
      std::filesystem::remove(link);
      std::filesystem::create_hard_link(file, link);
      std::filesystem::permissions(file, std::filesystem::perms::owner_all);
      std::filesystem::rename(file, folder.path() / "other");
      std::filesystem::rename(folder.path() / "other", file);
    });
    for (const Dataset* data : {&mapped, &streamed}) data->check_unchanged();
    touch_status(file, [&] { overwrite_in_place(file); });
    for (const Dataset* data : {&mapped, &streamed}) {
      EXPECT_EQ(message_of<InputError>([&] { data->check_unchanged(); }), changed);
    }
  }
}

// While it lives, no thread can be started: its stack would be larger than the address space.
class NoNewThreads {
 public:
  NoNewThreads() {
    pthread_getattr_default_np(&former_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 48);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoNewThreads() {
    pthread_setattr_default_np(&former_);
    pthread_attr_destroy(&former_);
  }
  NoNewThreads(const NoNewThreads&) = delete;
  NoNewThreads& operator=(const NoNewThreads&) = delete;

 private:
  pthread_attr_t former_;
};

TEST(RowSource, IsReadWithoutAThreadIfNoneCanBeStarted) {
  const Dataset blobs = make_blobs({.samples = 50, .features = 3});
  const NoNewThreads none;
  EXPECT_THROW(std::thread([] {}).join(), std::system_error);
  const Dataset read(rows_of("blobs", blobs.matrix()), 7);
  EXPECT_EQ(read.fingerprint(), blobs.fingerprint());
}

TEST(RowSource, OfTextIsRefusedWithTheWayOut) {
  const TemporaryFolder folder;
  for (const char* name : {"t.csv", "t.csv.gz"}) {
    const auto file = folder.write(name, "1,2\n");
    EXPECT_EQ(message_of<InputError>([&] { open_rows(file); }),
              file.string() +
                  ": text cannot be read from its middle, so it must fit into memory; "
                  "copy_file() makes an .npy file of it, which need not");
  }
}

TEST(RowSource, RefusesWhatReadingIntoMemoryRefuses) {
  const TemporaryFolder folder;
  const std::string whole = npy<float>(100, 2, false, false);
  std::string long_header("\x93NUMPY\x02\x00\x00\x00\x10\x00", 12);  // claims 1 MiB of header
  long_header += std::string(1 << 20, ' ');
  for (const std::string& bytes : {std::string(), std::string("text"), whole.substr(0, 100),
                                   whole.substr(0, 500), long_header}) {
    const auto file = folder.write("t.npy", bytes);
    const std::string message = message_of<InputError>([&] { open_rows(file); });
    EXPECT_EQ(message, message_of<InputError>([&] { read_dataset(file); }));
    EXPECT_TRUE(message.starts_with(file.string() + ": ")) << message;
  }
  EXPECT_EQ(message_of<InputError>([&] { open_rows(folder.path() / "t.npy"); }),
            (folder.path() / "t.npy").string() +
                ": the .npy header has 1048588 bytes; the limit is 131072");
}

TEST(MappedRows, AreThoseThatAreRead) {
  TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "rows.npy";
  std::ofstream(file, std::ios::binary) << npy<float>(5000, 3, false, false);
  const std::shared_ptr<const RowSource> whole = open_rows(file);
  const std::shared_ptr<const RowSource> part = select_rows(whole, {1234, 4321});
  for (const auto& [source, first] : {std::pair(whole, 0), std::pair(part, 1234)}) {
    EXPECT_TRUE(source->reads_in_parallel());
    const std::unique_ptr<RowMapping> mapping = source->map();
    ASSERT_NE(mapping, nullptr);
    const auto* const values = static_cast<const float*>(mapping->values());
    for (std::int64_t begin = 0; begin < source->samples(); begin += 700) {
      const RowRange rows{begin, std::min(begin + 700, source->samples())};
      mapping->load(rows);
      for (std::int64_t i = 3 * rows.begin; i < 3 * rows.end; ++i) {
        ASSERT_EQ(values[i], static_cast<float>(value_at(first + i / 3, i % 3)));
      }
      mapping->release(rows);
    }
  }
}

TEST(MappedRows, EndWithTheFile) {
  TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "rows.npy";
  std::ofstream(file, std::ios::binary) << npy<double>(50000, 3, false, false);
  const std::shared_ptr<const RowSource> source = open_rows(file);
  const std::unique_ptr<RowMapping> mapping = source->map();
  ASSERT_NE(mapping, nullptr);
  mapping->load({49000, 50000});
  std::filesystem::resize_file(file, 100000);
  EXPECT_NE(message_of<InputError>([&] {
              mapping->load({49000, 50000});
            }).find("the file was truncated from"),
            std::string::npos);
}

TEST(MappedRows, AreNotConverted) {
  TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "rows.npy";
  std::ofstream(file, std::ios::binary) << npy<float>(50, 3, true, false);
  EXPECT_EQ(open_rows(file)->map(), nullptr);
  EXPECT_FALSE(open_rows(file)->reads_in_parallel());
  std::ofstream(file, std::ios::binary) << npy<float>(50, 3, false, true);
  EXPECT_EQ(open_rows(file)->map(), nullptr);
}

}  // namespace
}  // namespace lloyd
