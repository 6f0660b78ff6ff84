// Sums of clusters with wide vectors.
#pragma once

#include <cstdint>

#include <lloyd/plugin/cluster_sums.hpp>

#include "instruction_set.hpp"

namespace lloyd_openmp {

/// From so many features on samples that move are asked for by the kernels, some ahead: the more of
/// them they are given at a time, the less each takes.
inline constexpr std::int64_t kManyFeatures = 64;

/// Those of an instruction set. T: float or double.
template <class T>
lloyd::SumKernels<T> sum_kernels(InstructionSet set);

}  // namespace lloyd_openmp
