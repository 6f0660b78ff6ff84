// Writes to readers of messages and results: pseudoterminals, and readers that are gone.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <gtest/gtest.h>

#include "output/foreign_output.hpp"
#include "output/reader.hpp"

namespace lloyd::apps {
namespace {

TEST(Reader, OfAPseudoterminalIsItsOtherEnd) {
  const Descriptor master(::posix_openpt(O_RDWR | O_NOCTTY));
  std::array<char, 64> name{};
  if (!master || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0 ||
      ::ptsname_r(master.get(), name.data(), name.size()) != 0) {
    GTEST_SKIP() << "this machine has no pseudoterminals";
  }
  const Descriptor terminal(::open(name.data(), O_RDWR | O_NOCTTY));
  ASSERT_TRUE(terminal);
  ASSERT_EQ(write_at_once(master.get(), "line\n"), 5);
  pollfd ready{terminal.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&ready, 1, 10000), 1);
  std::array<char, 64> line{};
  EXPECT_EQ(::read(terminal.get(), line.data(), line.size()), 5);
}

bool broken_pipe_is_pending() {
  sigset_t pending;
  ::sigpending(&pending);
  return ::sigismember(&pending, SIGPIPE) == 1;
}

TEST(Reader, ThatIsGoneChangesNoSignal) {
  const auto former = ::signal(SIGPIPE, SIG_DFL);  // ignored signals are never pending
  sigset_t broken_pipe;
  sigset_t before;
  ::sigemptyset(&broken_pipe);
  ::sigaddset(&broken_pipe, SIGPIPE);
  auto [reader, writer] = make_pipe();
  reader.close();
  EXPECT_EQ(write_at_once(writer.get(), "x"), -1);
  EXPECT_EQ(errno, EPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  EXPECT_EQ(write_at_once(writer.get(), "x"), -1);
  EXPECT_EQ(errno, EPIPE);
  EXPECT_FALSE(broken_pipe_is_pending());
  ::raise(SIGPIPE);
  EXPECT_EQ(write_at_once(writer.get(), "x"), -1);
  EXPECT_EQ(errno, EPIPE);
  EXPECT_TRUE(broken_pipe_is_pending());
  const timespec at_once{};
  ::sigtimedwait(&broken_pipe, nullptr, &at_once);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::signal(SIGPIPE, former);
}

}  // namespace
}  // namespace lloyd::apps
