// Sums of clusters with wide vectors.
#pragma once

#include <lloyd/plugin/cluster_sums.hpp>

#include "instruction_set.hpp"

namespace lloyd_openmp {

/// Those of an instruction set. T: float or double.
template <class T>
lloyd::SumKernels<T> sum_kernels(InstructionSet set);

}  // namespace lloyd_openmp
