// RangeWorkers: ranges, threads, failures and cancellation.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "parallel/range_workers.hpp"

namespace lloyd {
namespace {

// The kernel's identifiers of the threads that took part in any of `passes` loops. Each range
// waits, up to a limit, until all threads of the loop run one.
std::set<pid_t> threads_of_loops(const RangeWorkers& workers, int passes, int threads) {
  std::mutex mutex;
  std::set<pid_t> ids;
  for (int pass = 0; pass < passes; ++pass) {
    std::atomic<int> arrived{0};
    workers.for_each_range(threads, 1, [&](std::int64_t, std::int64_t) {
      {
        const std::lock_guard lock(mutex);
        ids.insert(::gettid());
      }
      ++arrived;
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
      while (arrived < threads && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
      }
    });
  }
  return ids;
}

TEST(RangeWorkers, CoverEveryItemOnce) {
  for (const int threads : {1, 2, 5}) {
    const RangeWorkers workers(threads);
    for (const std::int64_t count : {0, 1, 7, 64, 65, 1000}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      workers.for_each_range(count, 7, [&](std::int64_t begin, std::int64_t end) {
        EXPECT_EQ(begin % 7, 0);
        for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
      });
      for (const std::atomic<int>& visit : visits) EXPECT_EQ(visit, 1);
    }
  }
}

TEST(RangeWorkers, KeepTheirThreadsFromLoopToLoop) {
  const RangeWorkers workers(3);
  EXPECT_LE(threads_of_loops(workers, 20, 3).size(), 3u);
}

TEST(RangeWorkers, ShareTheTeamThatIsGiven) {
  const auto team = std::make_shared<ThreadTeam>(2);
  std::set<pid_t> ids;
  for (int loop = 0; loop < 20; ++loop) {
    ids.merge(threads_of_loops(RangeWorkers(team, {}), 1, 2));
  }
  EXPECT_LE(ids.size(), 2u);
}

TEST(RangeWorkers, GoOnAfterAFailure) {
  const RangeWorkers workers(4);
  for (int loop = 0; loop < 10; ++loop) {
    EXPECT_THROW(workers.for_each_range(100, 1,
                                        [](std::int64_t begin, std::int64_t) {
                                          if (begin == 50) throw std::runtime_error("range");
                                        }),
                 std::runtime_error);
    std::atomic<int> items{0};
    workers.for_each_range(100, 1, [&](std::int64_t, std::int64_t) { ++items; });
    EXPECT_EQ(items, 100);
  }
}

TEST(RangeWorkers, AreStopped) {
  const RangeWorkers workers(1, [] { return true; });
  EXPECT_THROW(workers.for_each_range(10, 1, [](std::int64_t, std::int64_t) {}), Cancelled);
}

}  // namespace
}  // namespace lloyd
