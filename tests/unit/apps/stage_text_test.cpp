// StageText: texts about stages that last, and silence about the others.
#include <chrono>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "progress/stage_text.hpp"

namespace lloyd::apps {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class StageTextTest : public testing::Test {
 protected:
  std::string at(milliseconds time, const char* stage, std::int64_t done, std::int64_t total) {
    return text_.update(stage, done, total, StageText::Clock::time_point() + time).value_or("");
  }

  StageText text_;
};

TEST_F(StageTextTest, GivesStageStepsAndTimeLeft) {
  EXPECT_EQ(at(seconds(100), "seeding", 0, 1000), "");
  EXPECT_EQ(at(seconds(110), "seeding", 250, 1000), "seeding 250/1000, about 30 s left");
  EXPECT_EQ(at(seconds(120), "seeding", 500, 1000), "seeding 500/1000, about 20 s left");
  EXPECT_EQ(at(seconds(130), "checking labels", 0, 1'000'000), "");
  EXPECT_EQ(at(seconds(132), "checking labels", 400'000, 1'000'000),
            "checking labels 40 %, about 3 s left");
}

TEST_F(StageTextTest, IsSilentInTheFirstSecondAndBetweenTexts) {
  EXPECT_EQ(at(milliseconds(0), "seeding", 0, 10), "");
  EXPECT_EQ(at(milliseconds(999), "seeding", 1, 10), "");
  EXPECT_NE(at(milliseconds(1000), "seeding", 2, 10), "");
  EXPECT_EQ(at(milliseconds(1299), "seeding", 3, 10), "");
  EXPECT_NE(at(milliseconds(1300), "seeding", 4, 10), "");
}

// Restarts seed again.
TEST_F(StageTextTest, FewerStepsBeginAnotherStage) {
  at(seconds(0), "seeding", 0, 10);
  EXPECT_EQ(at(seconds(10), "seeding", 10, 10), "seeding 10/10, about 0 s left");
  EXPECT_EQ(at(seconds(10), "seeding", 1, 10), "");
  EXPECT_EQ(at(seconds(12), "seeding", 2, 10), "seeding 2/10, about 8 s left");
}

}  // namespace
}  // namespace lloyd::apps
