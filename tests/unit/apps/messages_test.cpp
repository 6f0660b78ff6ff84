// Messages to a reader that does not read.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include <gtest/gtest.h>

#include "output/foreign_output.hpp"
#include "output/messages.hpp"
#include "process/stop_request.hpp"

namespace lloyd::apps {
namespace {

// Status 0 if a stopped process waits for the reader of its messages once, and not once per
// message. In a child process: the stop request is for good.
[[noreturn]] void write_to_nobody() {
  using Clock = std::chrono::steady_clock;
  auto [reader, messages] = make_pipe();
  ::dup2(messages.get(), STDERR_FILENO);
  ::fcntl(messages.get(), F_SETFL, O_NONBLOCK);
  while (::write(messages.get(), "x", 1) == 1) continue;
  request_stop();
  const Clock::time_point begun = Clock::now();
  write_message("one\n");
  if (Clock::now() - begun < kMessageGrace) ::_exit(1);
  for (int i = 0; i < 120; ++i) write_message("more\n");
  ::_exit(Clock::now() - begun < 60 * kMessageGrace ? 0 : 2);
}

TEST(Messages, WaitOnceForAReaderAfterAStopRequest) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) write_to_nobody();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace lloyd::apps
