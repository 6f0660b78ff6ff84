#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fit/fit_warnings.hpp"

namespace lloyd::apps {
namespace {

TEST(FitWarnings, NameMoreThreadsThanProcessors) {
  EXPECT_EQ(thread_warnings("64", 2),
            (std::vector<std::string>{
                "threads=64 is more than the 2 processors that this process may use, so threads "
                "wait for one another; -p threads=2 gives each processor one"}));
  for (const char* threads : {"0", "1", "2", "auto"}) {
    EXPECT_TRUE(thread_warnings(threads, 2).empty()) << threads;
  }
}

}  // namespace
}  // namespace lloyd::apps
