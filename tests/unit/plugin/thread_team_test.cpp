// ThreadTeam: items, late threads, exceptions, affinity masks and forked children.
#include <lloyd/plugin/sdk/thread_team.hpp>

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace lloyd {
namespace {

TEST(ThreadTeam, CallsTheBodyOnceForEveryItem) {
  for (const int threads : {1, 2, 5}) {
    ThreadTeam team(threads);
    for (const std::int64_t count : {0, 1, 3, 1000}) {
      for (const int wanted : {1, 2, 5, 9}) {
        std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
        std::atomic<int> beyond{0};
        team.for_each(wanted, count, [&](int thread, std::int64_t item) {
          if (thread < 0 || thread >= std::min(threads, wanted)) ++beyond;
          ++calls[static_cast<std::size_t>(item)];
        });
        for (const std::atomic<int>& call : calls) EXPECT_EQ(call, 1);
        EXPECT_EQ(beyond, 0);
      }
    }
  }
}

// Runs a loop in which every thread waits until all have arrived, or a long time has passed.
// Returns the number of threads that arrived.
int arrivals(ThreadTeam& team, int threads) {
  std::atomic<int> arrived{0};
  team.run(threads, [&](int) {
    ++arrived;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (arrived < threads && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
  });
  return arrived;
}

TEST(ThreadTeam, UsesAllThreadsThatAreWanted) {
  ThreadTeam team(4);
  for (const int threads : {2, 4, 3, 1}) EXPECT_EQ(arrivals(team, threads), threads);
}

std::atomic<bool> held{false}, released{false}, resumed{false};

// Holds the thread until `released`, for at most 20 seconds.
void hold_thread(int) {
  held = true;
  constexpr int kMaxWaits = 20'000;
  constexpr timespec kMillisecond{0, 1'000'000};
  for (int wait = 0; wait < kMaxWaits && !released; ++wait) ::nanosleep(&kMillisecond, nullptr);
  resumed = true;
}

// Holds a thread of a team between two loops, as if the system did not schedule it.
class HeldThread {
 public:
  HeldThread(ThreadTeam& team, int number) {
    struct sigaction action {};
    action.sa_handler = hold_thread;
    ::sigaction(SIGUSR2, &action, &former_);
    held = released = resumed = false;
    pthread_t handle{};
    std::atomic<bool> met{false};
    team.run(team.threads(), [&](int thread) {
      if (thread == number) {
        sigset_t set;  // the team's threads block signals
        sigemptyset(&set);
        sigaddset(&set, SIGUSR2);
        ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
        handle = ::pthread_self();
        met = true;
      }
      while (!met) std::this_thread::yield();
    });
    ::pthread_kill(handle, SIGUSR2);
    while (!held) std::this_thread::yield();
  }
  ~HeldThread() {
    release();
    ::sigaction(SIGUSR2, &former_, nullptr);
  }
  HeldThread(const HeldThread&) = delete;
  HeldThread& operator=(const HeldThread&) = delete;

  static void release() {
    released = true;
    while (!resumed) std::this_thread::yield();
  }

 private:
  struct sigaction former_ {};
};

TEST(ThreadTeam, DoesNotWaitForAThreadThatHasNotBegun) {
  ThreadTeam team(2);
  {
    const HeldThread other(team, 1);
    int items = 0, by_others = 0;
    for (int loop = 0; loop < 3; ++loop) {
      team.for_each(2, 100, [&](int thread, std::int64_t) {
        by_others += thread != 0;
        ++items;
      });
    }
    EXPECT_FALSE(resumed);
    EXPECT_EQ(by_others, 0);
    EXPECT_EQ(items, 300);
  }
  EXPECT_EQ(arrivals(team, 2), 2);  // the thread takes part again
}

// A thread that was called to one loop arrives during the next one, which wants fewer threads.
TEST(ThreadTeam, DoesNotCallAThreadOfAnEarlierLoop) {
  ThreadTeam team(3);
  const HeldThread late(team, 2);
  team.run(3, [](int) {});
  std::atomic<bool> by_late{false};
  team.run(2, [&](int thread) {
    if (thread == 2) by_late = true;
    if (thread != 0) return;
    HeldThread::release();
    constexpr std::chrono::milliseconds kTimeToEnter{50};
    std::this_thread::sleep_for(kTimeToEnter);
  });
  EXPECT_FALSE(by_late);
}

// Runs a loop of two threads that have both begun before one of them throws. Returns the text of
// the exception that reached the caller.
std::string text_thrown_by(ThreadTeam& team, int thrower) {
  std::atomic<int> arrived{0};
  std::string text;
  try {
    team.run(2, [&](int thread) {
      ++arrived;
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (arrived < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
      if (thread == thrower) throw std::runtime_error("thrown by " + std::to_string(thread));
    });
  } catch (const std::runtime_error& error) {
    text = error.what();
  }
  EXPECT_EQ(arrived, 2);  // all calls have ended
  return text;
}

TEST(ThreadTeam, ThrowsWhatABodyThrows) {
  ThreadTeam team(2);
  EXPECT_EQ(text_thrown_by(team, 0), "thrown by 0");
  EXPECT_EQ(text_thrown_by(team, 1), "thrown by 1");
  EXPECT_EQ(text_thrown_by(team, 2), "");  // the team works on
  // Without other threads, too.
  EXPECT_THROW(team.run(1, [](int) { throw std::runtime_error("alone"); }), std::runtime_error);
}

TEST(ThreadTeam, ThrowsOneOfSeveralExceptions) {
  ThreadTeam team(3);
  EXPECT_THROW(team.run(3, [](int thread) { throw std::runtime_error(std::to_string(thread)); }),
               std::runtime_error);
  EXPECT_EQ(arrivals(team, 3), 3);
}

TEST(ThreadTeam, BeginsNoItemAfterAnException) {
  constexpr std::int64_t kItems = 1'000'000'000'000;
  ThreadTeam team(2);
  EXPECT_THROW(team.for_each(2, kItems,
                             [](int, std::int64_t item) {
                               if (item == 5) throw std::runtime_error("item 5");
                             }),
               std::runtime_error);
  EXPECT_EQ(arrivals(team, 2), 2);
}

TEST(ThreadTeam, LeavesAffinityMasksAsTheyAre) {
  const AffinityMask before = AffinityMask::of_this_thread();
  ThreadTeam team(3);
  std::mutex mutex;
  std::vector<AffinityMask> masks;
  std::atomic<int> arrived{0};
  team.run(3, [&](int) {
    {
      const std::lock_guard lock(mutex);
      masks.push_back(AffinityMask::of_this_thread());
    }
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  masks.push_back(AffinityMask::of_this_thread());
  ASSERT_EQ(masks.size(), 4u);
  for (const AffinityMask& mask : masks) EXPECT_EQ(mask.processors(), before.processors());
  EXPECT_EQ(team.mask(), before);
}

TEST(ThreadTeam, RunsOnTheCallerAloneInAForkedChild) {
  ThreadTeam team(3);
  EXPECT_EQ(arrivals(team, 3), 3);
  const pid_t child = ::fork();
  if (child == 0) {
    std::int64_t items = 0;
    team.for_each(3, 100, [&](int thread, std::int64_t) { items += thread == 0; });
    const bool alone = items == 100 && !team.has_threads();
    // The handles of these threads are those of the team's threads in the parent.
    std::atomic<bool> destroyed{false};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&] {
        while (!destroyed) std::this_thread::yield();
      });
    }
    team.~ThreadTeam();
    destroyed = true;
    for (std::thread& thread : threads) thread.join();
    ::_exit(alone ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ThreadTeam, LeavesSignalsToTheHost) {
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  ThreadTeam team(2);
  std::atomic<bool> met{false}, blocked{false}, fault{true};
  team.run(2, [&](int thread) {
    if (thread == 1) {
      sigset_t mask;
      ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      blocked = sigismember(&mask, SIGTERM) == 1;
      fault = sigismember(&mask, SIGSEGV) == 1;
      met = true;
    }
    while (!met) std::this_thread::yield();
  });
  EXPECT_TRUE(blocked);
  EXPECT_FALSE(fault);
  sigset_t own;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGTERM), sigismember(&before, SIGTERM));
}

}  // namespace
}  // namespace lloyd
