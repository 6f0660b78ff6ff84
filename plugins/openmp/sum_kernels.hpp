// Sums of clusters with wide vectors.
#pragma once

#include <cstdint>

#include <lloyd/plugin/cluster_sums.hpp>

#include "instruction_set.hpp"

namespace lloyd_openmp {

/// From so many features on the kernels ask for samples ahead, and take up to kMaxBatchedSamples
/// at a time: of few clusters those that enter, or leave and enter, the same ones are added up
/// before.
inline constexpr std::int64_t kMinBatchedFeatures = 64;
inline constexpr std::int64_t kMaxBatchedSamples = 2048;

/// Those of an instruction set. T: float or double.
template <class T>
lloyd::SumKernels<T> sum_kernels(InstructionSet set);

}  // namespace lloyd_openmp
