// StepProgress: silent during short steps, but not during long ones.
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "progress/step_progress.hpp"

namespace lloyd::apps {
namespace {

std::string said_of(std::int64_t total) {
  testing::internal::CaptureStderr();
  {
    StepProgress progress("planning", "pairs");
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    progress.update(total / 2, total);
    progress.update(total, total);
  }
  return testing::internal::GetCapturedStderr();
}

TEST(StepProgress, ReportsStepsOfMoreThanASecond) {
  const std::string said = said_of(2 * StepProgress::kMinTotal);
  EXPECT_TRUE(said.starts_with("lloyd: planning: 10000 of 20000 pairs, about ")) << said;
}

TEST(StepProgress, IsSilentOfFewUnitsOnABusyMachine) {
  EXPECT_EQ(said_of(StepProgress::kMinTotal - 1), "");
}

}  // namespace
}  // namespace lloyd::apps
