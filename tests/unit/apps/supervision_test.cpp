// supervise(): results that were buffered before the fork.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>

#include <gtest/gtest.h>

#include "output/foreign_output.hpp"
#include "output/result_stream.hpp"
#include "supervision/supervision.hpp"

namespace lloyd::apps {
namespace {

// Ends in both processes of supervise(), each of which flushes the results.
[[noreturn]] void print_and_supervise(int output) {
  ::dup2(output, STDOUT_FILENO);
  write_result("once\n");
  int status = 0;
  try {
    supervise(std::chrono::seconds(120));
    report_end(status);
  } catch (const SupervisedEnd& end) {
    status = end.status;
  }
  flush_results();
  ::_exit(status);
}

TEST(Supervision, BufferedResultsArePrintedOnce) {
  auto [from, to] = make_pipe();
  std::fflush(nullptr);  // otherwise the child would print the buffers of the tests
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) print_and_supervise(to.get());
  to.close();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  std::array<char, 64> printed{};
  const ssize_t count = ::read(from.get(), printed.data(), printed.size());
  ASSERT_GE(count, 0);
  EXPECT_EQ(std::string_view(printed.data(), static_cast<std::size_t>(count)), "once\n");
}

}  // namespace
}  // namespace lloyd::apps
