// Memory of the openmp plugin that one session leaves to the next.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "openmp/large_pages.hpp"

namespace lloyd_openmp {
namespace {

constexpr std::size_t kLarge = 3 * kLargePage;

class OpenmpLargePages : public testing::Test {
 protected:
  OpenmpLargePages() { release_memory(); }
  ~OpenmpLargePages() override { release_memory(); }
};

TEST_F(OpenmpLargePages, ArePassedOnToWhoTakesAsMuch) {
  void* const first = take_memory(kLarge);
  void* const second = take_memory(2 * kLarge);
  give_memory(first, kLarge);
  give_memory(second, 2 * kLarge);
  EXPECT_EQ(freed_memory(), 3 * kLarge);
  EXPECT_EQ(take_memory(2 * kLarge - 5), second);
  EXPECT_EQ(take_memory(kLarge - 100), first);
  EXPECT_EQ(freed_memory(), 0);
  give_memory(first, kLarge);
  give_memory(second, 2 * kLarge);
}

TEST_F(OpenmpLargePages, AreReturnedWhereOthersAreTaken) {
  give_memory(take_memory(kLarge), kLarge);
  void* const other = take_memory(5 * kLarge);
  EXPECT_EQ(freed_memory(), 0);
  give_memory(other, 5 * kLarge);
  release_memory();
  EXPECT_EQ(freed_memory(), 0);
}

TEST_F(OpenmpLargePages, StayUpToALimit) {
  std::vector<void*> taken;
  for (int i = 0; i < 3; ++i) taken.push_back(take_memory(kMostFreed / 2));
  for (void* const memory : taken) give_memory(memory, kMostFreed / 2);
  EXPECT_EQ(freed_memory(), kMostFreed);
  for (int i = 0; i < 40; ++i) give_memory(take_memory(100), 100);
  EXPECT_EQ(freed_memory(), kMostFreed);  // what is small is neither kept nor does it matter
}

TEST_F(OpenmpLargePages, ArraysGiveTheirsBack) {
  std::uintptr_t first = 0;
  {
    const LargeArray<double> array = large_array<double>(kLarge / sizeof(double));
    first = reinterpret_cast<std::uintptr_t>(array.get());
    EXPECT_EQ(first % kLargePage, 0);
    array[kLarge / sizeof(double) - 1] = 1;
  }
  EXPECT_EQ(freed_memory(), kLarge);
  const LargeArray<double> next = large_array<double>(kLarge / sizeof(double));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(next.get()), first);
  EXPECT_EQ(freed_memory(), 0);
}

}  // namespace
}  // namespace lloyd_openmp
