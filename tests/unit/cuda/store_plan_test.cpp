// Which samples stay in device memory, for a memory limit; no device is needed.
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "cuda/memory/memory_limit.hpp"
#include "cuda/resident/store_plan.hpp"

namespace lloyd_cuda {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr std::int64_t kRows = std::int64_t{1} << 26;
constexpr double kRowBytes = 32 * 4;  // 8 GiB of samples

TEST(MemoryLimit, IsAShareOfTheDeviceUnlessItIsLower) {
  EXPECT_EQ(limit_bytes(0, 1000000), 900000);
  EXPECT_EQ(limit_bytes(0, 0), kUnlimited);
  EXPECT_EQ(limit_bytes(2, 0), 2 * kMiB);
  EXPECT_EQ(limit_bytes(2, std::int64_t{1} << 40), 2 * kMiB);
  EXPECT_EQ(limit_bytes(2, 1000000), 900000);
}

TEST(StorePlan, KeepsAllRowsIfTheyFit) {
  for (const double available : {kUnlimited, 8192 * kMiB}) {
    const StorePlan plan = plan_store(kRows, kRowBytes, available);
    EXPECT_TRUE(plan.feasible);
    EXPECT_TRUE(plan.is_resident());
    EXPECT_EQ(plan.resident_rows, kRows);
    EXPECT_EQ(plan.device_bytes, 8192 * kMiB);
    EXPECT_EQ(plan.host_bytes, 0);
  }
}

TEST(StorePlan, KeepsWhatFitsBesideTheBatches) {
  const StorePlan plan = plan_store(kRows, kRowBytes, 1024 * kMiB);
  EXPECT_TRUE(plan.feasible);
  EXPECT_FALSE(plan.is_resident());
  EXPECT_EQ(plan.batch_rows, 64 * kMiB / kRowBytes);
  EXPECT_EQ(plan.resident_rows, (1024 - 3 * 64) * kMiB / kRowBytes);
  EXPECT_EQ(plan.device_bytes, 1024 * kMiB);
  EXPECT_EQ(plan.host_bytes, 2 * 64 * kMiB);
}

TEST(StorePlan, ShrinksBatchesToTheLimit) {
  const StorePlan plan = plan_store(kRows, kRowBytes, 6 * kMiB);
  EXPECT_TRUE(plan.feasible);
  EXPECT_EQ(plan.batch_rows, 2 * kMiB / kRowBytes);
  EXPECT_EQ(plan.resident_rows, 0);
  EXPECT_EQ(plan.device_bytes, 6 * kMiB);
}

TEST(StorePlan, RefusesLimitsBelowTheSmallestBatches) {
  const double least = kBatchBuffers * kMinStreamedRows * kRowBytes;
  EXPECT_TRUE(plan_store(kRows, kRowBytes, least).feasible);
  for (const double available : {least - 1, 0.0, -5.0}) {
    const StorePlan plan = plan_store(kRows, kRowBytes, available);
    EXPECT_FALSE(plan.feasible);
    EXPECT_EQ(plan.device_bytes, least);
    EXPECT_EQ(plan.resident_rows, 0);
  }
  // Batches of a few rows hold all of them, but three times.
  EXPECT_FALSE(plan_store(10, kRowBytes, 9 * kRowBytes).feasible);
}

}  // namespace
}  // namespace lloyd_cuda
