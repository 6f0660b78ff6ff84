// Vectorised kernels for cluster sums.
#pragma once

#include <cstdint>

#include <lloyd/plugin/sdk/cluster_sums.hpp>

#include "common/instruction_set.hpp"

namespace lloyd_openmp {

/// From this number of features on, the kernels prefetch samples and process up to
/// kMaxBatchedSamples at a time, sorted by cluster: docs/design/openmp/sums.md.
inline constexpr std::int64_t kMinBatchedFeatures = 64;
inline constexpr std::int64_t kMaxBatchedSamples = 2048;

/// The kernels of an instruction set. T: float or double.
template <class T>
lloyd::SumKernels<T> sum_kernels(InstructionSet set);

}  // namespace lloyd_openmp
