// Sums of clusters with wide vectors.
#pragma once

#include <cstdint>

#include <lloyd/plugin/cluster_sums.hpp>

#include "instruction_set.hpp"

namespace lloyd_openmp {

/// From so many features on samples that move are asked for by the kernels, some ahead, and taken
/// cluster by cluster, kTogether at a time: the more they are given, the less each takes.
inline constexpr std::int64_t kManyFeatures = 64;
inline constexpr std::int64_t kTogether = 2048;

/// Those of an instruction set. T: float or double.
template <class T>
lloyd::SumKernels<T> sum_kernels(InstructionSet set);

}  // namespace lloyd_openmp
