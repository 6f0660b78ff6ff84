// Temporary files: their names and their removal.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>

#include "supervision/interrupt.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t count_files(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

// The wait status of a child process that runs `body`.
template <class Body>
int status_of_child(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

// In containers, successive processes often have the same number, and an earlier one may have been
// killed: the process number and a counter do not make a name unique.
TEST(NewFile, TemporaryNamesDiffer) {
  const TemporaryFolder folder;
  std::set<std::string> names;
  for (int i = 0; i < 20; ++i) {
    const NewFile file(folder.path() / "a.csv");
    const std::string name = file.temporary().filename().string();
    EXPECT_TRUE(name.starts_with(fmt::format(".lloyd-{}-", ::getpid()))) << name;
    EXPECT_GT(name.size(), fmt::format(".lloyd-{}-.tmp", ::getpid()).size() + 8) << name;
    names.insert(name);
  }
  EXPECT_EQ(names.size(), 20u);
}

TEST(NewFile, RemovesWhatKilledProcessesHaveLeft) {
  const TemporaryFolder folder;
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const auto path = folder.path() / "a.csv";
  EXPECT_EQ(status_of_child([&] {
              NewFile(path).write("half");
              new NewFile(path);  // nobody removes it
            }),
            0);
  ASSERT_EQ(count_files(folder.path()), 1);
  const std::string left = fs::directory_iterator(folder.path())->path().filename().string();
  // Copies under the names of processes of another machine or container, and of earlier versions.
  const std::size_t space = left.rfind('-', left.rfind('-') - 1) + 1;
  std::string elsewhere = left;
  elsewhere[space] = elsewhere[space] == '0' ? '1' : '0';
  folder.write(elsewhere, "elsewhere");
  folder.write(".lloyd-1-0123456789abcdef.tmp", "of version 0.5");
  // A process that is at work.
  const pid_t worker = ::fork();
  if (worker == 0) {
    auto* const file = new NewFile(folder.path() / "b.csv");
    file->write("half");
    char byte = 0;
    const bool told = ::write(ends[1], &byte, 1) == 1;
    ::pause();
    ::_exit(told ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  // The worker has removed the file of the child.
  EXPECT_FALSE(fs::exists(folder.path() / left));
  EXPECT_EQ(count_files(folder.path()), 3);
  folder.write(left, "again");
  { const NewFile file(path); }
  EXPECT_FALSE(fs::exists(folder.path() / left));
  EXPECT_EQ(count_files(folder.path()), 3) << "the worker's file, and two that are not known";
  ::kill(worker, SIGKILL);
  ::waitpid(worker, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(NewFile, IsRemovedByASignalThatEndsTheProcess) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const TemporaryFolder folder;
    const int status = status_of_child([&] {
      ::signal(signal, SIG_DFL);
      apps::install_cleanup_handler();
      NewFile file(folder.path() / "a.csv");
      file.write("half");
      ::raise(signal);
    });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_EQ(count_files(folder.path()), 0) << signal;
  }
}

TEST(NewFile, AnIgnoredSignalStaysIgnored) {
  const TemporaryFolder folder;
  const int status = status_of_child([&] {
    ::signal(SIGHUP, SIG_IGN);
    apps::install_cleanup_handler();
    NewFile file(folder.path() / "a.csv");
    ::raise(SIGHUP);
    file.commit();
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(count_files(folder.path()), 1);
}

TEST(NewFile, OfAParentIsLeftAloneByAForkedChild) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.csv";
  auto file = std::make_unique<NewFile>(path);
  file->write("whole");
  EXPECT_EQ(status_of_child([&] { file.reset(); }), 0);
  EXPECT_EQ(status_of_child([] { remove_temporary_files(); }), 0);
  file->commit();
  EXPECT_EQ(TemporaryFolder::read(path), "whole");
}

TEST(NewFile, WithoutACommitIsGone) {
  const TemporaryFolder folder;
  const fs::path path = folder.write("a.csv", "former");
  { NewFile(path).write("new"); }
  EXPECT_EQ(count_files(folder.path()), 1);
  EXPECT_EQ(TemporaryFolder::read(path), "former");
}

// Writing needs permission to create files in the folder, even if the file itself is writable.
TEST(NewFile, NeedsAFolderInWhichFilesMayBeMade) {
  const TemporaryFolder temporary;
  const fs::path& folder = temporary.path();
  const fs::path file = temporary.write("a.csv", "former");
  fs::permissions(file, fs::perms{0666});
  fs::permissions(folder, fs::perms{0555});
  const int status = status_of_child([&] {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(2);
    if (::access(file.c_str(), W_OK) != 0) ::_exit(2);  // a parent folder denies access
    const std::string message = message_of<InputError>([&] { const NewFile attempt(file); });
    ::_exit(message == fmt::format("{}: cannot write the file: Permission denied; it must be "
                                   "possible to create files in its folder, {}",
                                   file.string(), fs::canonical(folder).string())
                ? 0
                : 1);
  });
  fs::permissions(folder, fs::perms{0755});
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "no other user can be tried";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(TemporaryFolder::read(file), "former");
}

TEST(NewFile, TheTargetOfAPathHasOneName) {
  const TemporaryFolder temporary;
  const fs::path folder = fs::canonical(temporary.path());
  fs::create_directory(folder / "inner");
  fs::create_symlink("inner", folder / "same");
  fs::create_symlink("inner/new.csv", folder / "link.csv");
  const fs::path target = folder / "inner" / "new.csv";
  for (const char* path : {"inner/new.csv", "same/new.csv", "link.csv", "same/../inner/new.csv"}) {
    EXPECT_EQ(output_target(folder / path), target) << path;
  }
  fs::create_symlink("circle.csv", folder / "circle.csv");
  EXPECT_THROW(output_target(folder / "circle.csv"), InputError);
}

TEST(NewFile, ReplacesNoProtectedFile) {
  const TemporaryFolder temporary;
  const fs::path data = temporary.write("data.npy", "samples");
  const fs::path labels = temporary.path() / "labels.npy";
  const ProtectedFile missing(temporary.path() / "missing");
  fs::create_symlink("data.npy", labels);
  const auto write = [&] {
    NewFile file(labels);
    file.write("labels");
    file.commit();
  };
  {
    const ProtectedFile data_is_read(data);
    EXPECT_EQ(message_of<Error>(write),
              fmt::format("{}: cannot write the file: it now names a file that is in use",
                          labels.string()));
    EXPECT_EQ(TemporaryFolder::read(data), "samples");
  }
  write();
  EXPECT_EQ(TemporaryFolder::read(data), "labels");
}

}  // namespace
}  // namespace lloyd
