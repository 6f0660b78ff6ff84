// Memory of the openmp plugin that is reused by the next session.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "openmp/common/large_pages.hpp"

namespace lloyd_openmp {
namespace {

constexpr std::size_t kLarge = 3 * kHugePageBytes;

class OpenmpLargePages : public testing::Test {
 protected:
  OpenmpLargePages() { trim_pages(); }
  ~OpenmpLargePages() override { trim_pages(); }
};

TEST_F(OpenmpLargePages, AreReusedForTheSameSize) {
  void* const first = acquire_pages(kLarge);
  void* const second = acquire_pages(2 * kLarge);
  release_pages(first, kLarge);
  release_pages(second, 2 * kLarge);
  EXPECT_EQ(cached_page_bytes(), 3 * kLarge);
  EXPECT_EQ(acquire_pages(2 * kLarge - 5), second);
  EXPECT_EQ(acquire_pages(kLarge - 100), first);
  EXPECT_EQ(cached_page_bytes(), 0);
  release_pages(first, kLarge);
  release_pages(second, 2 * kLarge);
}

TEST_F(OpenmpLargePages, AreFreedIfAnotherSizeIsAcquired) {
  release_pages(acquire_pages(kLarge), kLarge);
  void* const other = acquire_pages(5 * kLarge);
  EXPECT_EQ(cached_page_bytes(), 0);
  release_pages(other, 5 * kLarge);
  trim_pages();
  EXPECT_EQ(cached_page_bytes(), 0);
}

TEST_F(OpenmpLargePages, AreCachedUpToALimit) {
  std::vector<void*> taken;
  for (int i = 0; i < 3; ++i) taken.push_back(acquire_pages(kMaxCachedBytes / 2));
  for (void* const memory : taken) release_pages(memory, kMaxCachedBytes / 2);
  EXPECT_EQ(cached_page_bytes(), kMaxCachedBytes);
  for (int i = 0; i < 40; ++i) release_pages(acquire_pages(100), 100);
  EXPECT_EQ(cached_page_bytes(),
            kMaxCachedBytes);  // small blocks are not cached
}

TEST_F(OpenmpLargePages, ArraysReleaseTheirs) {
  std::uintptr_t first = 0;
  {
    const LargeArray<double> array = large_array<double>(kLarge / sizeof(double));
    first = reinterpret_cast<std::uintptr_t>(array.get());
    EXPECT_EQ(first % kHugePageBytes, 0);
    array[kLarge / sizeof(double) - 1] = 1;
  }
  EXPECT_EQ(cached_page_bytes(), kLarge);
  const LargeArray<double> next = large_array<double>(kLarge / sizeof(double));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(next.get()), first);
  EXPECT_EQ(cached_page_bytes(), 0);
}

}  // namespace
}  // namespace lloyd_openmp
