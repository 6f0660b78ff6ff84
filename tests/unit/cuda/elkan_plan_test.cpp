// The device memory plan of cuda-elkan for a memory limit; no device is needed.
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "cuda-elkan/cost.hpp"
#include "cuda-elkan/plan.hpp"

namespace lloyd_cuda_elkan {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr PlanShape kShape{1000000, 32, 512, 4};

TEST(ElkanPlan, KeepsABoundForEachCentroidWhereMemoryAllows) {
  const Plan plan = choose_plan(kShape, kUnlimited, 0);
  EXPECT_TRUE(plan.feasible);
  EXPECT_TRUE(plan.resident);
  EXPECT_EQ(plan.groups, 512);
  EXPECT_EQ(plan.group_size, 1);
  EXPECT_TRUE(plan.separations);
  // Samples, 514 bounds per sample, and lists of 20 bytes per row; the rest is small.
  const double expected = 1e6 * (32 * 4 + 514 * 4 + 20);
  EXPECT_GT(plan.device_bytes, expected);
  EXPECT_LT(plan.device_bytes, 1.01 * expected);
  EXPECT_EQ(plan.host_bytes, 0);
}

TEST(ElkanPlan, ChoosesTheMostGroupsThatFit) {
  double former = kUnlimited;
  std::int64_t former_groups = 513;
  for (const std::int64_t groups : {512, 64, 16, 4, 1}) {
    // The limit is one byte less than the previous plan needs.
    const Plan plan = choose_plan(kShape, former == kUnlimited ? former : former - 1, 0);
    ASSERT_TRUE(plan.feasible);
    EXPECT_TRUE(plan.resident);
    EXPECT_EQ(plan.groups, groups);
    EXPECT_LT(plan.groups, former_groups);
    EXPECT_LT(plan.device_bytes, former);
    EXPECT_GE(plan.group_size * plan.groups, kShape.clusters);
    // The plan's own size is a sufficient limit.
    EXPECT_EQ(choose_plan(kShape, plan.device_bytes, 0).groups, groups);
    former = plan.device_bytes;
    former_groups = plan.groups;
  }
  const Plan plan = choose_plan(kShape, former - 1, 0);
  EXPECT_TRUE(plan.feasible);
  EXPECT_FALSE(plan.resident);
}

TEST(ElkanPlan, GroupsCoverAllCentroids) {
  for (const std::int64_t clusters : {1, 2, 7, 8, 9, 33, 100, 1000, 4097}) {
    double limit = kUnlimited;
    for (int step = 0; step < 12; ++step) {
      const Plan plan = choose_plan({5000, 3, clusters, 8}, limit, 0);
      if (!plan.feasible) break;
      EXPECT_GE(plan.groups * plan.group_size, clusters);
      EXPECT_LT((plan.groups - 1) * plan.group_size, clusters);
      EXPECT_EQ(plan.group_size & (plan.group_size - 1), 0) << plan.group_size;
      limit = plan.device_bytes - 1;
    }
  }
}

TEST(ElkanPlan, StreamsInBatchesThatKeepTheLimit) {
  const PlanShape large{100000000, 100, 100, 4};  // 37 GiB of samples
  for (const double limit : {2000 * kMiB, 1300 * kMiB, 900 * kMiB}) {
    const Plan plan = choose_plan(large, limit, 100 * kMiB);
    ASSERT_TRUE(plan.feasible) << limit;
    EXPECT_FALSE(plan.resident);
    EXPECT_EQ(plan.groups, 1);
    EXPECT_LE(plan.device_bytes + 100 * kMiB, limit);
    EXPECT_GE(plan.part_rows, kMinBatchRows);
    EXPECT_LE(static_cast<double>(plan.part_rows) * 400, kBatchBytes);
    EXPECT_EQ(plan.host_bytes, 2.0 * 400 * static_cast<double>(plan.part_rows));
  }
}

TEST(ElkanPlan, RefusesWhatCannotFit) {
  const PlanShape large{100000000, 100, 100, 4};
  const Plan plan = choose_plan(large, 700 * kMiB, 0);
  EXPECT_FALSE(plan.feasible);
  // A refused plan states the required size, which is exact to the byte.
  EXPECT_GT(plan.device_bytes, 8e8);
  EXPECT_TRUE(choose_plan(large, plan.device_bytes, 0).feasible);
  EXPECT_FALSE(choose_plan(large, plan.device_bytes - 1, 0).feasible);
}

TEST(ElkanPlan, FewRowsAreOneBatch) {
  const PlanShape wide{100, 1000000, 2, 4};  // 381 MiB of samples, 61 of sums
  const Plan plan = choose_plan(wide, 900 * kMiB, 0);
  EXPECT_TRUE(plan.resident);
  const Plan streamed = choose_plan(wide, 400 * kMiB, 0);
  EXPECT_FALSE(streamed.resident);
  EXPECT_FALSE(streamed.feasible);  // two batches of all rows need more memory than the samples
}

TEST(ElkanPlan, LargerProblemsTakeMore) {
  double former = 0;
  for (std::int64_t n = 1000; n <= 1000000000000000; n *= 100) {
    const Plan plan = choose_plan({n, 1000, 1000, 8}, kUnlimited, 0);
    EXPECT_GT(plan.device_bytes, former);
    former = plan.device_bytes;
  }
}

TEST(ElkanCost, ScanningPaysForFewSamplesAndFewDistances) {
  PartCost cost{1000000, 32, 512, 512, 100000, 5};
  EXPECT_FALSE(assigning_all_pays(cost));
  cost.listed = 1000000;
  cost.per_sample = 500;
  EXPECT_TRUE(assigning_all_pays(cost));
  cost.listed = 0;
  EXPECT_FALSE(assigning_all_pays(cost));
  // If all distances are cheap, bounds pay only if they settle most samples.
  EXPECT_TRUE(assigning_all_pays({1000000, 2, 32, 32, 500000, 2}));
  EXPECT_FALSE(assigning_all_pays({1000000, 2, 32, 32, 50000, 2}));
}

}  // namespace
}  // namespace lloyd_cuda_elkan
