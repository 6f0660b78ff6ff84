// What waits for threads that spin.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "machine/idle_threads.hpp"

namespace lloyd::machine {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

void spin_until(Clock::time_point end) {
  while (Clock::now() < end) {
  }
}

TEST(IdleThreads, AThreadThatSpinsIsWaitedFor) {
  const auto end = Clock::now() + milliseconds(100);
  std::atomic<bool> stop = false;
  std::thread spinner([&] {
    spin_until(end);
    stop.wait(false);
  });
  EXPECT_TRUE(wait_for_idle_threads(milliseconds(60000)));
  EXPECT_GE(Clock::now(), end);
  stop = true;
  stop.notify_one();
  spinner.join();
}

TEST(IdleThreads, NotForEver) {
  std::atomic<bool> stop = false;
  std::thread spinner([&] {
    while (!stop) {
    }
  });
  const auto begin = Clock::now();
  EXPECT_FALSE(wait_for_idle_threads(milliseconds(50)));
  EXPECT_GE(Clock::now() - begin, milliseconds(50));
  stop = true;
  spinner.join();
}

TEST(IdleThreads, AProcessThatItHasStartedIsWaitedFor) {
  const auto end = Clock::now() + milliseconds(100);
  const pid_t child = ::fork();
  if (child == 0) {
    spin_until(end);
    ::pause();
  }
  EXPECT_TRUE(wait_for_idle_threads(milliseconds(60000)));
  EXPECT_GE(Clock::now(), end);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace lloyd::machine
