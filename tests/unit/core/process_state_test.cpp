// ProcessState in a process with few permissions.
#include <locale.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <locale>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>
#include <lloyd/process_state.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

constexpr uid_t kOrdinaryUser = 65534;  // a user id that owns no file of the test

// Saves and restores the process state in a working folder without search permission. Returns an
// exit status; 0: success.
int keep_state_in(const std::filesystem::path& folder) {
  if (::chdir(folder.c_str()) != 0 || ::chmod(".", 0) != 0) return 2;
  if (::geteuid() == 0 && ::setuid(kOrdinaryUser) != 0) return 3;
  try {
    const ProcessState state;
    const bool same = state.first_change().empty();
    state.restore();
    return same ? 0 : 4;
  } catch (const Error&) {
    return 1;
  }
}

TEST(ProcessState, AFolderThatMayNotBeSearchedIsNoObstacle) {
  const TemporaryFolder temporary;
  const std::filesystem::path folder = temporary.path() / "closed";
  std::filesystem::create_directory(folder);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(keep_state_in(folder));
  int status = 0;
  ::waitpid(child, &status, 0);
  ::chmod(folder.c_str(), 0700);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ProcessState, LocalesOfTheThreadAndOfCppArePutBack) {
  const ProcessState state;
  const locale_t other = ::newlocale(LC_ALL_MASK, "C", nullptr);
  ::uselocale(other);
  EXPECT_EQ(state.first_change(), "the locale of the calling thread (uselocale)");
  state.restore();
  EXPECT_EQ(::uselocale(nullptr), LC_GLOBAL_LOCALE);
  ::freelocale(other);
  const std::locale before;
  std::locale::global(std::locale(before, new std::numpunct<char>));
  EXPECT_EQ(state.first_change(), "the global locale of C++");
  state.restore();
  EXPECT_TRUE(std::locale() == before);
  EXPECT_EQ(state.first_change(), "");
}

}  // namespace
}  // namespace lloyd
