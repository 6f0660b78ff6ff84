// ThreadTeam: items, late threads, affinity masks and forked children.
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

std::atomic<bool> held{false}, released{false};

// Keeps the thread until `released`, but not for ever.
void hold_thread(int) {
  held = true;
  constexpr int kMaxWaits = 20'000;
  constexpr timespec kMillisecond{0, 1'000'000};
  for (int wait = 0; wait < kMaxWaits && !released; ++wait) ::nanosleep(&kMillisecond, nullptr);
}

TEST(ThreadTeam, DoesNotWaitForAThreadThatHasNotBegun) {
  struct sigaction action {
  }, former{};
  action.sa_handler = hold_thread;
  ASSERT_EQ(::sigaction(SIGUSR2, &action, &former), 0);
  ThreadTeam team(2);
  pthread_t other{};
  std::atomic<bool> met{false};
  team.run(2, [&](int thread) {
    if (thread == 1) {
      other = ::pthread_self();
      met = true;
    }
    while (!met) std::this_thread::yield();
  });
  held = released = false;
  ASSERT_EQ(::pthread_kill(other, SIGUSR2), 0);
  while (!held) std::this_thread::yield();
  std::atomic<int> items{0};
  std::atomic<bool> by_other{false};
  for (int loop = 0; loop < 3; ++loop) {
    team.for_each(2, 100, [&](int thread, std::int64_t) {
      if (thread != 0) by_other = true;
      ++items;
    });
  }
  EXPECT_FALSE(by_other);
  EXPECT_EQ(items, 300);
  released = true;
  EXPECT_EQ(arrivals(team, 2), 2);  // the thread takes part again
  ::sigaction(SIGUSR2, &former, nullptr);
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
    team.~ThreadTeam();
    ::_exit(alone ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace lloyd
