// A new file of records survives a power failure: its folder is synced too.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "experiment/record/record_writer.hpp"
#include "unit/support/temporary_folder.hpp"

namespace {

std::vector<std::filesystem::path> synced;

}  // namespace

// Replaces the system's fsync() in this program and logs the calls.
extern "C" int fsync(int descriptor) {
  std::error_code error;
  synced.push_back(
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", descriptor), error));
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace lloyd::experiment {
namespace {

TEST(RecordWriterSync, WritesTheFolderOfANewFileToTheDisk) {
  const TemporaryFolder temporary;
  const std::filesystem::path folder = std::filesystem::canonical(temporary.path()) / "a" / "b";
  std::filesystem::create_directories(folder);
  const std::filesystem::path file = folder / "records.jsonl";
  const auto times = [](const std::filesystem::path& path) {
    return std::count(synced.begin(), synced.end(), path);
  };
  synced.clear();
  { const RecordWriter writer(file); }
  EXPECT_EQ(times(folder), 1);
  EXPECT_EQ(times(folder.parent_path()), 1) << "that the folder was made may not be there yet";

  temporary.write("a/b/records.jsonl", "{}\n");
  synced.clear();
  { const RecordWriter writer(file); }
  EXPECT_EQ(times(folder), 0) << "the file was there";
}

}  // namespace
}  // namespace lloyd::experiment
