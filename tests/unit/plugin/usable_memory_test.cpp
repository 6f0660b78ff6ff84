// Memory that a process may use; machine_test.cpp tests the limits of control groups.
#include <lloyd/plugin/sdk/machine/usable_memory.hpp>

#include <unistd.h>

#include <gtest/gtest.h>

namespace lloyd {
namespace {

TEST(UsableMemory, IsAtMostThatOfTheMachineAndOfTheGroups) {
  EXPECT_GT(usable_memory(), 0);
  EXPECT_LE(usable_memory(), ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE));
  if (const std::int64_t limit = group_memory_limit()) {
    EXPECT_LE(usable_memory(), limit);
  }
}

}  // namespace
}  // namespace lloyd
