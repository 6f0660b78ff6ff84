// The padding, parts and memory of cuda-fast; no device is needed.
#include "cuda-fast/fast_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>

#include <gtest/gtest.h>

namespace lloyd_cuda_fast {
namespace {

constexpr std::int64_t kSharedBytes = 227 << 10;
constexpr int kMultiprocessors = 132;

TEST(FastScreenShape, PadsFeaturesAndTheBiasToWholeSteps) {
  for (std::int64_t features = 1; features <= 5000; ++features) {
    const int steps = steps_for(features);
    ASSERT_GE(std::int64_t{steps - 1} * kStepFeatures, features);
    const bool is_resident = std::find(std::begin(kResidentSteps), std::end(kResidentSteps),
                                       steps) != std::end(kResidentSteps);
    ASSERT_TRUE(is_resident || steps % kImageSteps == 0) << features;
  }
  EXPECT_EQ(steps_for(16), 2);
  EXPECT_EQ(steps_for(17), 3);
  EXPECT_EQ(steps_for(128), 9);
  EXPECT_EQ(steps_for(256), 18);
  EXPECT_EQ(steps_for(768), 52);
}

TEST(FastScreenShape, CoversAllCentroidsWithinSharedMemory) {
  for (const std::int64_t features : {1, 9, 16, 64, 96, 128, 200, 768}) {
    for (const std::int64_t clusters : {1, 10, 128, 129, 512, 1000, 1024, 3000, 16384, 65536}) {
      const ScreenShape shape = screen_shape(clusters, features, kSharedBytes, kMultiprocessors);
      ASSERT_TRUE(shape.is_feasible());
      EXPECT_LE(shape.part_bytes(), kSharedBytes);
      EXPECT_LE(shape.part_columns, kMaxPartColumns);
      EXPECT_EQ(shape.part_columns % shape.tile_columns, 0);
      EXPECT_EQ(shape.tile_columns,
                clusters > kNarrowTileColumns ? kTileColumns : kNarrowTileColumns);
      EXPECT_GE(std::int64_t{shape.parts} * shape.part_columns, clusters);
      EXPECT_LT(std::int64_t{shape.parts - 1} * shape.part_columns, clusters);
      EXPECT_GE(shape.blocks_per_part, 1);
      EXPECT_LE(shape.blocks(kMultiprocessors), kMultiprocessors);
      EXPECT_GE(shape.blocks(kMultiprocessors), std::min(shape.parts, kMultiprocessors));
    }
  }
}

TEST(FastScreenShape, KeepsMostMultiprocessorsBusy) {
  for (const std::int64_t clusters : {512, 1024, 3000, 16384}) {
    for (const std::int64_t features : {96, 128, 200}) {
      const ScreenShape shape = screen_shape(clusters, features, kSharedBytes, kMultiprocessors);
      const double scored = static_cast<double>(shape.part_columns) / shape.blocks_per_part;
      const double ideal = static_cast<double>(clusters) / kMultiprocessors;
      EXPECT_LE(scored, 1.2 * ideal) << clusters << " clusters, " << features << " features";
    }
  }
}

TEST(FastScreenShape, IsNotFeasibleIfATileDoesNotFit) {
  EXPECT_EQ(screen_shape(100, 880, kSharedBytes, kMultiprocessors).tile_columns, kTileColumns);
  EXPECT_EQ(screen_shape(100, 881, kSharedBytes, kMultiprocessors).tile_columns,
            kNarrowTileColumns);
  EXPECT_TRUE(screen_shape(100, 1776, kSharedBytes, kMultiprocessors).is_feasible());
  EXPECT_FALSE(screen_shape(100, 1777, kSharedBytes, kMultiprocessors).is_feasible());
  EXPECT_FALSE(screen_shape(100, 768, 48 << 10, kMultiprocessors).is_feasible());
}

FastProblem problem_of(std::int64_t samples, std::int64_t features, std::int64_t clusters) {
  FastProblem problem;
  problem.samples = samples;
  problem.features = features;
  problem.clusters = clusters;
  problem.row_bytes = static_cast<double>(features) * 4;
  problem.shared_bytes = kSharedBytes;
  problem.multiprocessors = kMultiprocessors;
  return problem;
}

TEST(FastPlan, KeepsSamplesAndFragmentsIfTheyFit) {
  const FastProblem problem = problem_of(1 << 20, 128, 1024);
  const FastPlan plan = plan_fast(problem, 80e9);
  EXPECT_TRUE(plan.store.is_resident());
  EXPECT_TRUE(plan.keeps_fragments);
  EXPECT_GE(plan.slab_rows, 1 << 20);
  EXPECT_LE(plan.slab_rows, (1 << 20) + kTileRows);
  const double rows = 1 << 20;
  EXPECT_EQ(plan.store.device_bytes, rows * (128 * 4 + fragment_row_bytes(plan.shape)));
}

TEST(FastPlan, DropsFragmentsBeforeItStreamsSamples) {
  const FastProblem problem = problem_of(1 << 20, 128, 1024);
  const double rows = 1 << 20;
  const FastPlan plan = plan_fast(problem, rows * 128 * 4 * 1.4);
  EXPECT_TRUE(plan.store.is_resident());
  EXPECT_FALSE(plan.keeps_fragments);
}

TEST(FastPlan, StaysWithinTheLimit) {
  for (const std::int64_t features : {2, 16, 128, 768}) {
    for (const std::int64_t clusters : {2, 100, 1024}) {
      for (double available = 8e6; available < 1e10; available *= 1.7) {
        const FastPlan plan = plan_fast(problem_of(1 << 20, features, clusters), available);
        if (!plan.store.feasible) continue;
        EXPECT_LE(plan.device_bytes(), available);
        EXPECT_GE(plan.slab_rows, kTileRows);
        EXPECT_LE(plan.slab_rows, kMaxSlabRows);
        EXPECT_EQ(plan.slab_rows % kTileRows, 0);
      }
    }
  }
}

TEST(FastPlan, RunsFusedIfAllSamplesFit) {
  FastProblem problem = problem_of(1 << 20, 16, 32);
  problem.may_fuse = true;
  const FastPlan plan = plan_fast(problem, 80e9);
  EXPECT_TRUE(plan.fused);
  EXPECT_EQ(plan.grid_words, 3 * (8 * 32 * 16 + 32 + 2));
  EXPECT_EQ(plan.device_bytes(), (1 << 20) * 16 * 4 + 8.0 * static_cast<double>(plan.grid_words));
  EXPECT_FALSE(plan_fast(problem, 32e6).fused);
  EXPECT_TRUE(plan_fast(problem, 32e6).store.feasible);
}

TEST(FastPlan, IsInfeasibleWithTooLittleMemory) {
  EXPECT_FALSE(plan_fast(problem_of(1 << 20, 128, 1024), 1e6).store.feasible);
  EXPECT_FALSE(plan_fast(problem_of(1 << 20, 128, 1024), -1).store.feasible);
}

TEST(FastPlan, HasNoFragmentsWithoutTensorCores) {
  FastProblem problem = problem_of(1000, 128, 10);
  problem.uses_tensor_cores = false;
  const FastPlan plan = plan_fast(problem, std::numeric_limits<double>::infinity());
  EXPECT_FALSE(plan.shape.is_feasible());
  EXPECT_EQ(plan.store.device_bytes, 1000 * 128 * 4);
}

}  // namespace
}  // namespace lloyd_cuda_fast
