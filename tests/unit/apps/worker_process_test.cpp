// A worker process answers, prints, ends, hangs, and is waited for and killed together with its
// descendants. A shell writes its packets, so that they can be malformed.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "unit/support/process_ends.hpp"
#include "unit/support/temporary_folder.hpp"
#include "workers/worker_process.hpp"

namespace lloyd::apps {
namespace {

using namespace std::chrono_literals;
using Clock = WorkerProcess::Clock;
using Event = WorkerProcess::Event;
using Limits = WorkerProcess::Limits;

std::vector<std::string> shell(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

Limits within(Clock::duration time) {
  Limits limits;
  limits.deadline = Clock::now() + time;
  return limits;
}

TEST(WorkerProcess, AnswersComeBeforeTheEnd) {
  WorkerProcess process(shell("printf one >&3; printf '\\377\\000two' >&3; exit 3"), 3);
  ASSERT_EQ(process.wait(within(60s)), Event::answer);
  EXPECT_EQ(process.answer(), "one");
  ASSERT_EQ(process.wait(within(60s)), Event::answer);
  EXPECT_EQ(process.answer(), std::string("\xff\0two", 5));
  ASSERT_EQ(process.wait(within(60s)), Event::ended);
  EXPECT_EQ(process.end().text(), "exit(3)");
  process.send("nobody is there");
  EXPECT_EQ(process.wait(within(60s)), Event::ended);
}

TEST(WorkerProcess, DescribesHowItEnded) {
  WorkerProcess process(shell("kill -SEGV $$"), 3);
  ASSERT_EQ(process.wait(within(60s)), Event::ended);
  EXPECT_EQ(process.end().text(), "signal 11 (Segmentation fault)");
  EXPECT_TRUE(process.has_ended());
}

TEST(WorkerProcess, OnlyTheLastWordsAreKept) {
  WorkerProcess process(
      shell(
          "head -c 100000000 /dev/zero; printf 'the\\n\\tlast \\033[1m' >&2; printf words; exit 1"),
      3);
  ASSERT_EQ(process.wait(within(60s)), Event::ended);
  const std::string words = process.last_words();
  EXPECT_TRUE(words.ends_with("?the last ?[1mwords")) << words;
  EXPECT_TRUE(words.starts_with("...?")) << words;
  EXPECT_LE(words.size(), 303u);
  EXPECT_EQ(on_one_line(" a\r\n b\x80 "), "a b?");
  EXPECT_EQ(on_one_line("Gr\u00f6\u00dfe  \n\t  2"), "Gr\u00f6\u00dfe 2");
  EXPECT_EQ(on_one_line("two  blanks"), "two  blanks");
}

TEST(WorkerProcess, DeadlineStopAndClosedSocketEndTheWaiting) {
  WorkerProcess process(shell("sleep 1000"), 3);
  EXPECT_EQ(process.wait(within(50ms)), Event::timed_out);
  Limits limits;
  int asked = 0;
  limits.stop = [&] { return ++asked == 3; };
  EXPECT_EQ(process.wait(limits), Event::stopped);
  EXPECT_FALSE(process.has_ended());
  process.cancel();
  ASSERT_EQ(process.wait({}), Event::ended);
  EXPECT_EQ(process.end().text(), "signal 15 (Terminated)");

  WorkerProcess closed(shell("exec 3>&-; while :; do sleep 1; done"), 3);
  EXPECT_EQ(closed.wait({}), Event::lost);
  closed.kill();
  EXPECT_EQ(closed.wait({}), Event::ended);
}

TEST(WorkerProcess, MemoryAboveTheLimitIsSeen) {
  WorkerProcess process(shell("x=$(head -c 60000000 /dev/zero | tr '\\0' x); sleep 1000"), 3);
  Limits limits = within(60s);
  limits.memory_bytes = 50'000'000;
  EXPECT_EQ(process.wait(limits), Event::over_memory);
  EXPECT_GT(process.memory_bytes(), 50'000'000);
}

TEST(WorkerProcess, WhatItStartedEndsWithIt) {
  for (const std::string end : {"exit 0", "sleep 1000"}) {
    pid_t grandchild = 0;
    {
      WorkerProcess process(shell("sleep 1000 & printf $! >&3; " + end), 3);
      ASSERT_EQ(process.wait(within(60s)), Event::answer);
      grandchild = std::stoi(process.answer());
      if (end == "exit 0")
        ASSERT_EQ(process.wait(within(60s)), Event::ended);
      else
        process.kill();
    }
    EXPECT_TRUE(process_ends(grandchild));
  }
}

// The worker inherits no descriptor but the socket.
TEST(WorkerProcess, ItHasNoOtherDescriptor) {
  const int inherited = ::fcntl(STDERR_FILENO, F_DUPFD, 50);
  WorkerProcess process(shell("readlink /proc/self/fd/0 >&3; exec ls /proc/self/fd >&3"), 3);
  ASSERT_EQ(process.wait(within(60s)), Event::answer);
  EXPECT_EQ(process.answer(), "/dev/null\n");
  ASSERT_EQ(process.wait(within(60s)), Event::answer);
  EXPECT_EQ(process.answer(), "0\n1\n2\n3\n4\n");  // 4 is the listed folder itself
  ::close(inherited);
}

TEST(WorkerProcess, AMissingProgramIsAnError) {
  EXPECT_EQ(message_of<Error>([] { WorkerProcess({"/nowhere/lloyd"}, 3); }),
            "cannot start a process: No such file or directory");
}

}  // namespace
}  // namespace lloyd::apps
