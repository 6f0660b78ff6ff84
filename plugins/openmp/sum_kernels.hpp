// Sums of clusters with wide vectors.
#pragma once

#include <lloyd/plugin/cluster_sums.hpp>

#include "instruction_set.hpp"

namespace lloyd_openmp {

/// Those of an instruction set, for samples of d features: none where there are too few of them to
/// be worth a call. T: float or double.
template <class T>
lloyd::SumKernels<T> sum_kernels(InstructionSet set, std::int64_t d);

}  // namespace lloyd_openmp
