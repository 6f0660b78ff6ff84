// The number of threads of a pass, and the team that sessions share.
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "common/shared_team.hpp"
#include "common/useful_threads.hpp"

namespace lloyd_openmp {
namespace {

TEST(OpenmpThreads, SmallProblemsUseOne) {
  EXPECT_EQ(useful_threads(150, 3, 4, 16), 1);
  EXPECT_EQ(useful_threads(1000, 32, 2, 2), 1);
  EXPECT_EQ(useful_threads(1, 1, 1, 1), 1);
}

TEST(OpenmpThreads, LargeProblemsUseAll) {
  EXPECT_EQ(useful_threads(10'000, 64, 16, 2), 2);
  EXPECT_EQ(useful_threads(1'000'000, 64, 16, 16), 16);
  EXPECT_EQ(useful_threads(std::int64_t{1} << 50, 1 << 20, 1 << 20, 1024), 1024);
}

TEST(OpenmpThreads, ProblemsInBetweenUseWhatPays) {
  EXPECT_EQ(useful_threads(7777, 129, 33, 16), 4);
  EXPECT_EQ(useful_threads(7777, 129, 33, 2), 2);
  // Each thread has sums of its own, which are large here.
  EXPECT_LT(useful_threads(20'000, 4096, 256, 64), 32);
}

// The identifier of the team's other thread.
pid_t other_thread(lloyd::ThreadTeam& team) {
  std::atomic<bool> met{false};
  pid_t id = 0;
  team.run(2, [&](int thread) {
    if (thread == 1) {
      id = ::gettid();
      met = true;
    }
    while (!met) std::this_thread::yield();
  });
  return id;
}

TEST(OpenmpThreads, OutliveASession) {
  std::set<pid_t> others;
  for (int session = 0; session < 5; ++session) {
    const SharedTeam team(2);
    EXPECT_EQ(team->threads(), 2);
    others.insert(other_thread(*team));
  }
  EXPECT_EQ(others.size(), 1u);
}

TEST(OpenmpThreads, OfSessionsAtTheSameTimeDiffer) {
  const SharedTeam first(2), second(2);
  EXPECT_NE(other_thread(*first), other_thread(*second));
}

TEST(OpenmpThreads, HaveTheMaskOfTheThreadThatOpensTheSession) {
  if (!lloyd::AffinityMask::of_this_thread().apply(::pthread_self())) {
    GTEST_SKIP() << "the system refuses to set affinity masks";
  }
  { const SharedTeam team(2); }
  std::thread([] {
    const int processor = lloyd::AffinityMask::of_this_thread().processors().front();
    ASSERT_TRUE(lloyd::AffinityMask::of({processor}).apply(::pthread_self()));
    const SharedTeam team(2);
    std::atomic<int> arrived{0};
    std::atomic<int> masks{0};
    team->run(2, [&](int) {
      masks += lloyd::AffinityMask::of_this_thread().count();
      ++arrived;
      while (arrived < 2) std::this_thread::yield();
    });
    EXPECT_EQ(masks, 2);
  }).join();
}

}  // namespace
}  // namespace lloyd_openmp
