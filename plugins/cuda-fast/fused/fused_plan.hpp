// When cuda-fast labels and sums samples in one kernel, and the shared memory of that kernel. Pure
// functions of sizes, without CUDA.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda-fast/common/error_bound.hpp"
#include "cuda-fast/common/screen_units.hpp"
#include "cuda/device/device_limits.hpp"
#include "cuda/fused/configuration.hpp"

namespace lloyd_cuda_fast {

/// Maximum features of a sample, which a thread holds in registers.
inline constexpr int kFusedMaxFeatures = 16;
/// Maximum k d: one block computes all means at the end of a pass.
inline constexpr std::int64_t kFusedMaxCells = 2048;
/// With fewer features, path=auto does not use tensor cores: rounding to FP16 leaves too many
/// labels open.
inline constexpr std::int64_t kMinTensorCoreFeatures = 9;
/// Maximum k (d + 5) with kMinTensorCoreFeatures or more: d multiply-adds and five other operations
/// per score. Beyond it, tensor cores are faster (NOTES.md).
inline constexpr std::int64_t kFusedMaxOperations = 1500;

/// The units of the screen, for the fused kernel.
struct FusedUnits {
  double scale = 1;         ///< ScreenUnits::scale
  double underflow = 0;     ///< ScreenUnits::underflow
  float largest_norm = 0;   ///< no sample has a larger norm in these units
  bool in_float32 = false;  ///< float32 samples are converted by one multiply-add in float32
};

/// The labeller's shared memory besides the table of centroids.
struct alignas(16) LabellerState {
  double origin[kFusedMaxFeatures];
  float offset[kFusedMaxFeatures];  ///< -origin in units of the screen
  CentroidNorms norms;
  float largest_centroid;  ///< largest |e|, rounded up
};

/// The number of features held in registers for d features.
constexpr int padded_features(std::int64_t features) {
  if (features <= 4) return static_cast<int>(features);
  return static_cast<int>((features + 3) / 4 * 4);
}

/// Values per row of the table of centroids for a padded number of features.
constexpr int table_row_floats(int padded) {
  if (padded == 1) return 2;
  return padded <= 3 ? 4 : padded;
}

/// Rows of a group of the table of centroids.
inline constexpr int kTableGroupRows = 8;

/// Values from one group of the table to the next. Neighbouring groups begin in different banks,
/// because the threads of a warp read rows of different groups; groups eight apart begin in the
/// same bank.
constexpr int table_group_floats(int padded) {
  return kTableGroupRows * table_row_floats(padded) + 4;
}

/// Values of the table: rows, and biases if they are not in the rows.
constexpr std::int64_t table_floats(std::int64_t clusters, int padded) {
  const std::int64_t groups = (clusters + kTableGroupRows - 1) / kTableGroupRows;
  return groups * (table_group_floats(padded) + (padded <= 3 ? 0 : kTableGroupRows));
}

/// The units for the fused kernel. in_float32 is false if the scale, or an origin in units of the
/// screen, is not a float32 value or almost overflows or underflows.
inline FusedUnits fused_units(const ScreenUnits& units) {
  constexpr double kMax = 0x1p100;
  FusedUnits found;
  found.scale = units.scale;
  found.underflow = units.underflow;
  found.largest_norm = static_cast<float>(units.largest_norm * (1 + 0x1p-20));
  found.in_float32 = 1 / kMax <= units.scale && units.scale <= kMax;
  for (const double origin : units.origin) {
    const double offset = std::abs(origin * units.scale);
    found.in_float32 &= static_cast<double>(static_cast<float>(origin)) == origin &&
                        (origin == 0 || (1 / kMax <= offset && offset <= kMax));
  }
  return found;
}

/// True if one kernel is expected to label and sum samples the fastest.
constexpr bool suits_fused(std::int64_t clusters, std::int64_t features) {
  if (features > kFusedMaxFeatures || clusters > kFusedMaxCells / features) return false;
  return features < kMinTensorCoreFeatures ||
         clusters * (padded_features(features) + 5) <= kFusedMaxOperations;
}

/// The configuration of a pass with this number of limbs (SumScale::shared_limbs). It may lack
/// fused sums or centroids in shared memory, which can_run_fused() excludes.
inline lloyd_cuda_fused::Configuration fused_configuration(std::int64_t clusters,
                                                           std::int64_t features, int limbs,
                                                           const lloyd_cuda::DeviceLimits& limits) {
  const int padded = padded_features(features);
  lloyd_cuda_fused::Request request;
  request.clusters = clusters;
  request.features = features;
  request.labeller_bytes =
      static_cast<std::int64_t>(sizeof(LabellerState)) +
      table_floats(clusters, padded) * static_cast<std::int64_t>(sizeof(float));
  request.limbs = limbs;
  request.sums_only_changes = true;
  return lloyd_cuda_fused::choose(request, limits);
}

/// True if passes of k clusters of d features can and should run in one kernel on the device, for
/// any number of limbs.
inline bool can_run_fused(std::int64_t clusters, std::int64_t features,
                          const lloyd_cuda::DeviceLimits& limits) {
  if (!suits_fused(clusters, features)) return false;
  for (int limbs = 1; limbs <= lloyd_cuda_fused::kMaxLimbs; ++limbs) {
    const auto configuration = fused_configuration(clusters, features, limbs, limits);
    if (!configuration.fused || configuration.space != lloyd_cuda::CentroidSpace::shared) {
      return false;
    }
  }
  return true;
}

}  // namespace lloyd_cuda_fast
