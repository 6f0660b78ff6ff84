// What is known of the other threads of this process.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "machine/affinity.hpp"
#include "machine/threads.hpp"

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

TEST(OtherThreads, AreWhereTheyRanLast) {
  const std::vector<int> allowed = allowed_processors();
  EXPECT_TRUE(processors_of_other_threads().empty());
  for (const int processor : {allowed.front(), allowed.back()}) {
    std::atomic<int> step = 0;
    std::thread other([&] {
      EXPECT_TRUE(run_on({processor}));
      step = 1;
      step.notify_one();
      step.wait(1);
    });
    step.wait(0);
    EXPECT_EQ(processors_of_other_threads(), std::set<int>{processor});
    step = 2;
    step.notify_one();
    other.join();
  }
}

}  // namespace
}  // namespace lloyd::machine
