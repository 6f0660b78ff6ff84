// Threads run on the processors that they are assigned to.
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "machine/processors/affinity.hpp"

namespace lloyd::machine {
namespace {

// Runs on a separate thread, whose mask does not affect other tests.
template <class Body>
void on_thread(const Body& body) {
  std::thread(body).join();
}

TEST(Affinity, AThreadMovesAndMayLeaveAgain) {
  on_thread([] {
    const std::vector<int> allowed = allowed_processors();
    for (const int processor : allowed) {
      EXPECT_EQ(move_to(processor), processor);
      EXPECT_EQ(allowed_processors(), allowed);
    }
  });
}

TEST(Affinity, AThreadThatIsBoundStaysBound) {
  const std::vector<int> allowed = allowed_processors();
  on_thread([&] {
    ASSERT_TRUE(run_on({allowed.back()}));
    EXPECT_EQ(allowed_processors(), std::vector<int>{allowed.back()});
    EXPECT_EQ(current_processor(), allowed.back());
    for (const int processor : {allowed.front(), -1, 1 << 25}) {
      EXPECT_EQ(move_to(processor), allowed.back());
      EXPECT_EQ(allowed_processors(), std::vector<int>{allowed.back()});
    }
    EXPECT_TRUE(run_on(allowed));
    EXPECT_EQ(allowed_processors(), allowed);
  });
}

TEST(Affinity, RefusesAbsentProcessors) {
  on_thread([] {
    const std::vector<int> allowed = allowed_processors();
    EXPECT_FALSE(run_on({5000, 6000}));
    EXPECT_EQ(allowed_processors(), allowed);
  });
}

}  // namespace
}  // namespace lloyd::machine
