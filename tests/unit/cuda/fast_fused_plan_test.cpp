// When cuda-fast labels and sums in one kernel, and its shared memory; no device is needed.
#include "cuda-fast/fused/fused_plan.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace lloyd_cuda_fast {
namespace {

lloyd_cuda::DeviceLimits card(int shared_bytes) {
  lloyd_cuda::DeviceLimits limits;
  limits.multiprocessors = 132;
  limits.shared_bytes_per_block = shared_bytes;
  return limits;
}

TEST(FastFused, SuitsFewFeaturesAndClusters) {
  EXPECT_TRUE(suits_fused(32, 2));
  EXPECT_TRUE(suits_fused(1024, 2));
  EXPECT_TRUE(suits_fused(32, 16));
  EXPECT_TRUE(suits_fused(88, 10));
  EXPECT_FALSE(suits_fused(89, 10));
  EXPECT_FALSE(suits_fused(1025, 2));
  EXPECT_FALSE(suits_fused(256, 16));
  EXPECT_FALSE(suits_fused(2, 17));
}

TEST(FastFused, RowsOfTheTableHoldAllFeaturesAndAreAligned) {
  for (std::int64_t features = 1; features <= kFusedMaxFeatures; ++features) {
    const int registers = padded_features(features);
    EXPECT_GE(registers, features);
    const int floats = table_row_floats(registers);
    EXPECT_GE(floats, registers <= 3 ? registers + 1 : registers) << features;
    EXPECT_TRUE(floats == 2 || floats % 4 == 0) << features;
  }
}

TEST(FastFused, TheTableHoldsWholeGroupsAndNeighboursBeginInDifferentBanks) {
  for (std::int64_t features = 1; features <= kFusedMaxFeatures; ++features) {
    const int registers = padded_features(features);
    const int biases = registers <= 3 ? 0 : kTableGroupRows;
    EXPECT_EQ(table_floats(1, registers), table_group_floats(registers) + biases);
    EXPECT_EQ(table_floats(kTableGroupRows, registers), table_floats(1, registers));
    EXPECT_EQ(table_floats(kTableGroupRows + 1, registers), 2 * table_floats(1, registers));
    EXPECT_GE(table_group_floats(registers), kTableGroupRows * table_row_floats(registers));
    EXPECT_EQ(table_group_floats(registers) % 4, 0);
    EXPECT_NE(table_group_floats(registers) % 32, 0);
  }
}

TEST(FastFused, FitsForAnyNumberOfLimbsWithEnoughSharedMemory) {
  for (std::int64_t features = 1; features <= kFusedMaxFeatures; ++features) {
    const std::int64_t clusters = 1500 / features;
    if (!suits_fused(clusters, features)) continue;
    EXPECT_TRUE(can_run_fused(clusters, features, card(227 << 10))) << features;
    for (const int limbs : {1, 3, 8}) {
      const auto configuration = fused_configuration(clusters, features, limbs, card(227 << 10));
      EXPECT_TRUE(configuration.fused);
      const int registers = padded_features(features);
      const int bias = registers <= 3 ? 0 : 1;  // beside the row
      const std::int64_t table = clusters * (table_row_floats(registers) + bias) * 4;
      EXPECT_GE(configuration.centroids_bytes,
                static_cast<std::int64_t>(sizeof(LabellerState)) + table);
    }
  }
  EXPECT_FALSE(can_run_fused(1024, 2, card(48 << 10)));
  EXPECT_TRUE(can_run_fused(983, 2, card(227 << 10)));
  EXPECT_FALSE(can_run_fused(984, 2, card(227 << 10)));  // the sums take over 96 KiB
}

TEST(FastFused, ConvertsInFloat32IfThatRoundsOnce) {
  ScreenUnits units;
  units.origin = {1.5, -1e6};
  units.scale = 0x1p10;
  units.largest_norm = 100;
  EXPECT_TRUE(fused_units(units).in_float32);
  EXPECT_GE(static_cast<double>(fused_units(units).largest_norm), 100);
  units.origin[0] = 1.0 / 3;
  EXPECT_FALSE(fused_units(units).in_float32);
  units.origin[0] = 0x1p60;
  units.scale = 0x1p90;
  EXPECT_FALSE(fused_units(units).in_float32);
  units.origin[0] = 0x1p-60;
  units.scale = 0x1p-90;
  EXPECT_FALSE(fused_units(units).in_float32);
  units.origin = {0, 0};
  EXPECT_TRUE(fused_units(units).in_float32);
  units.scale = 0x1p101;
  EXPECT_FALSE(fused_units(units).in_float32);
}

}  // namespace
}  // namespace lloyd_cuda_fast
