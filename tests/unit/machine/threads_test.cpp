// Information on the other threads of this process.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "machine/processors/affinity.hpp"
#include "machine/processors/cpu.hpp"
#include "machine/processors/threads.hpp"

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
  std::atomic<int> step = 0;
  std::thread spinner([&] {
    step = 1;
    spin_until(end);
    step.wait(1);
  });
  while (step == 0) {
  }
  EXPECT_TRUE(wait_for_idle_threads(milliseconds(60000)));
  EXPECT_GE(Clock::now(), end);
  step = 2;
  step.notify_one();
  spinner.join();
}

TEST(IdleThreads, NotForEver) {
  std::atomic<int> step = 0;
  std::thread spinner([&] {
    step = 1;
    while (step == 1) {
    }
  });
  while (step == 0) {
  }
  const auto begin = Clock::now();
  EXPECT_FALSE(wait_for_idle_threads(milliseconds(50)));
  EXPECT_GE(Clock::now() - begin, milliseconds(50));
  step = 2;
  spinner.join();
}

TEST(IdleThreads, AProcessThatItHasStartedIsWaitedFor) {
  if (::access("/proc/self/task", F_OK) != 0 ||
      ::access(("/proc/self/task/" + std::to_string(::getpid()) + "/children").c_str(), F_OK) !=
          0) {
    GTEST_SKIP() << "the kernel does not tell of children";
  }
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const auto end = Clock::now() + milliseconds(100);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::write(ends[1], "x", 1) == 1) spin_until(end);
    while (true) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  EXPECT_TRUE(wait_for_idle_threads(milliseconds(60000)));
  EXPECT_GE(Clock::now(), end);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

// A thread that sleeps on a given processor.
class Sleeper {
 public:
  Sleeper() : thread_([this] { run(); }) {}
  ~Sleeper() {
    go(-1);
    thread_.join();
  }
  void go(int processor) {
    wanted_ = processor;
    wanted_.notify_one();
    reached_.wait(false);
    reached_ = false;
  }

 private:
  void run() {
    for (int at = -2; at != -1;) {
      wanted_.wait(at);
      at = wanted_;
      if (at >= 0) {
        EXPECT_TRUE(run_on({at}));
      }
      reached_ = true;
      reached_.notify_one();
    }
  }
  std::atomic<int> wanted_ = -2;
  std::atomic<bool> reached_ = false;
  std::thread thread_;
};

TEST(OtherThreads, AreWhereTheyRanLast) {
  Sleeper other;
  for (const int processor : allowed_processors()) {
    other.go(processor);
    EXPECT_TRUE(processors_of_other_threads().contains(processor)) << processor;
  }
}

TEST(OtherThreads, AreLeftByWhatBegins) {
  const std::vector<int> allowed = allowed_processors();
  if (fastest_processors(allowed).size() < 2) GTEST_SKIP() << "there is one processor";
  Sleeper other;
  for (const int processor : fastest_processors(allowed)) {
    other.go(processor);
    // Other threads of this program may occupy all processors.
    if (processors_of_other_threads().size() == allowed.size()) continue;
    EXPECT_EQ(move_to(processor), processor);
    EXPECT_FALSE(processors_of_other_threads().contains(begin_on(processor)));
  }
}

}  // namespace
}  // namespace lloyd::machine
