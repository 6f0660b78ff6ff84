// A new file of records survives a power failure: its folder is synced too.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "experiment/record/record_writer.hpp"
#include "unit/support/temporary_folder.hpp"

namespace {

std::vector<std::filesystem::path> synced;
std::filesystem::path failing_folder;  // the folder whose sync fails; empty: none
int folder_error = 0;                  // its error number

}  // namespace

// Replaces fsync() of the system in this program: logs the calls and fails for failing_folder.
extern "C" int fsync(int descriptor) {
  std::error_code error;
  synced.push_back(
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", descriptor), error));
  if (!failing_folder.empty() && synced.back() == failing_folder) {
    errno = folder_error;
    return -1;
  }
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

TEST(RecordWriterSync, ReportsFoldersThatCannotBeWrittenToTheDisk) {
  const TemporaryFolder temporary;
  const std::filesystem::path folder = std::filesystem::canonical(temporary.path()) / "a" / "b";
  std::filesystem::create_directories(folder);
  const std::filesystem::path file = folder / "records.jsonl";
  for (const std::filesystem::path& path : {folder, folder.parent_path()}) {
    failing_folder = path;
    folder_error = EIO;
    EXPECT_EQ(
        message_of<InputError>([&] { const RecordWriter writer(file); }),
        fmt::format("cannot write the folder {} to the disk: Input/output error", path.string()));
    folder_error = EINVAL;  // a file system that cannot sync folders
    EXPECT_NO_THROW(const RecordWriter writer(file));
  }
  failing_folder.clear();
}

}  // namespace
}  // namespace lloyd::experiment
