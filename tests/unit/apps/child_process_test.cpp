// ChildProcess: reports, exit, waiting, and cleanup.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "output/foreign_output.hpp"
#include "output/reader.hpp"
#include "unit/support/process_ends.hpp"
#include "workers/child_process.hpp"

namespace lloyd::apps {
namespace {

using namespace std::chrono_literals;
using ChildEvent = ChildProcess::Event;
using Reporter = ChildProcess::Reporter;

ChildProcess::Clock::time_point in(ChildProcess::Clock::duration time) {
  return ChildProcess::Clock::now() + time;
}

void expect_end(const ChildProcess::Work& work, const std::string& text) {
  ChildProcess child(work);
  ASSERT_EQ(child.wait(in(60s)), ChildEvent::ended);
  EXPECT_EQ(child.end().text(), text);
  EXPECT_EQ(child.end().clean(), text == "exit(0)");
}

TEST(ChildProcess, LinesComeBeforeTheEnd) {
  const std::string large(200000, 'x');
  ChildProcess child([&](const Reporter& report) {
    std::printf("this is not a report\n");
    report("one");
    report("");
    report(large);
    return 3;
  });
  for (const std::string& line : {std::string("one"), std::string(), large}) {
    ASSERT_EQ(child.wait(in(60s)), ChildEvent::line);
    EXPECT_EQ(child.line(), line);
  }
  ASSERT_EQ(child.wait(in(60s)), ChildEvent::ended);
  EXPECT_EQ(child.end().text(), "exit(3)");
  EXPECT_EQ(child.wait(in(60s)), ChildEvent::ended);
}

TEST(ChildProcess, DescribesHowItEnded) {
  expect_end([](const Reporter&) { return 0; }, "exit(0)");
  expect_end([](const Reporter&) -> int { ::_exit(7); }, "exit(7)");
  expect_end([](const Reporter&) -> int { std::abort(); }, "signal 6 (Aborted)");
  expect_end([](const Reporter&) { return ::raise(SIGKILL); }, "signal 9 (Killed)");
  expect_end([](const Reporter&) -> int { throw 1; }, "signal 6 (Aborted)");
}

TEST(ChildProcess, ADeadlineAndAStopEndTheWaiting) {
  ChildProcess child([](const Reporter&) { return ::pause(); });
  EXPECT_EQ(child.wait(in(50ms)), ChildEvent::timed_out);
  int asked = 0;
  EXPECT_EQ(child.wait(in(60s), [&] { return ++asked == 3; }), ChildEvent::stopped);
}

TEST(ChildProcess, AClosedPipeDoesNotEndIt) {
  ChildProcess child([](const Reporter&) {
    for (int descriptor = 3; descriptor < 100; ++descriptor) ::close(descriptor);
    return ::pause();
  });
  EXPECT_EQ(child.wait(in(300ms)), ChildEvent::timed_out);
}

// The child prints its second words only after the first ones have been forgotten.
TEST(ChildProcess, WordsBeforeATurnAreForgotten) {
  ChildProcess child([](const Reporter& report) -> int {
    std::fputs("error: of the first turn\n", stderr);
    report("one");
    report.await_turn();
    std::fputs("of the second turn\n", stderr);
    std::abort();
  });
  ASSERT_EQ(child.wait(in(60s)), ChildEvent::line);
  EXPECT_EQ(child.last_words(), "error: of the first turn");
  child.forget_words();
  EXPECT_EQ(child.last_words(), "");
  child.resume();
  ASSERT_EQ(child.wait(in(60s)), ChildEvent::ended);
  EXPECT_EQ(child.last_words(), "of the second turn");
}

// Number of descriptors of this process that refer to the same file.
int count_descriptors_of(const std::filesystem::path& file) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (std::filesystem::read_symlink(entry.path(), error) == file) ++count;
  }
  return count;
}

TEST(ChildProcess, KeepsNoPipeOfItsParentOpen) {
  auto ends = make_pipe();
  ASSERT_EQ(write_at_once(ends.second.get(), "x"), 1);  // reopens the pipe
  const std::filesystem::path pipe =
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", ends.second.get()));
  ChildProcess child([&](const Reporter& report) {
    ends.first.close();
    ends.second.close();
    report(std::to_string(count_descriptors_of(pipe)));
    return 0;
  });
  ASSERT_EQ(child.wait(in(60s)), ChildEvent::line);
  EXPECT_EQ(child.line(), "0");
}

// A grandchild keeps the pipe open, and does not outlive the child.
TEST(ChildProcess, NothingIsLeftBehind) {
  pid_t grandchild = 0;
  {
    ChildProcess child([](const Reporter& report) {
      const pid_t pid = ::fork();
      if (pid == 0) return ::pause();
      report(std::to_string(pid));
      return 0;
    });
    ASSERT_EQ(child.wait(in(60s)), ChildEvent::line);
    grandchild = std::stoi(child.line());
    ASSERT_EQ(child.wait(in(60s)), ChildEvent::ended);
  }
  EXPECT_TRUE(process_ends(grandchild));

  {  // killed before it ends
    ChildProcess child([](const Reporter& report) {
      const pid_t pid = ::fork();
      if (pid != 0) report(std::to_string(pid));
      return ::pause();
    });
    ASSERT_EQ(child.wait(in(60s)), ChildEvent::line);
    grandchild = std::stoi(child.line());
  }
  EXPECT_TRUE(process_ends(grandchild));
}

// A grandchild that has left its parent, its process group and its session is also ended.
TEST(ChildProcess, NoDaemonIsLeftBehind) {
  const auto start_daemon = [](const Reporter& report) {
    if (::fork() != 0) return ::pause();
    ::setsid();
    const pid_t daemon = ::fork();
    if (daemon == 0) return ::pause();
    report(std::to_string(daemon));
    ::_exit(0);
  };
  pid_t daemon = 0;
  {
    ChildProcess child(start_daemon);
    ASSERT_EQ(child.wait(in(60s)), ChildEvent::line);
    daemon = std::stoi(child.line());
  }
  EXPECT_TRUE(process_ends(daemon));

  ChildProcess parent([&](const Reporter& report) {
    ChildProcess child(start_daemon);
    child.wait(in(60s));
    report(child.line());
    return ::raise(SIGKILL);
  });
  ASSERT_EQ(parent.wait(in(60s)), ChildEvent::line);
  daemon = std::stoi(parent.line());
  ASSERT_EQ(parent.wait(in(60s)), ChildEvent::ended);
  EXPECT_TRUE(process_ends(daemon));
}

TEST(ChildProcess, WhatItPrintsIsPrintable) {
  testing::internal::CaptureStderr();
  {
    ChildProcess child([](const Reporter&) {
      std::printf("one\x1b[2J\n");
      std::fprintf(stderr, "two\r");
      return 0;
    });
    EXPECT_EQ(child.wait(in(60s)), ChildEvent::ended);
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("one?[2J\n"), std::string::npos) << text;
  EXPECT_NE(text.find("two?"), std::string::npos) << text;
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST(ChildProcess, ItEndsWithItsParent) {
  ChildProcess parent([](const Reporter& report) {
    ChildProcess child([](const Reporter& report_back) {
      report_back(std::to_string(::getpid()));
      return ::pause();
    });
    child.wait(in(60s));
    report(child.line());
    return ::raise(SIGKILL);
  });
  ASSERT_EQ(parent.wait(in(60s)), ChildEvent::line);
  const pid_t child = std::stoi(parent.line());
  ASSERT_EQ(parent.wait(in(60s)), ChildEvent::ended);
  EXPECT_TRUE(process_ends(child));
}

}  // namespace
}  // namespace lloyd::apps
