// Compensated sums on the device, for values that fit no integer form.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>

#include "cuda/passes/cluster_sums.hpp"
#include "cuda/passes/samples.hpp"

namespace lloyd_cuda {

/// Adds rows to compensated sums (SumForm::compensated) and counts of their clusters, with the bits
/// of lloyd::ClusterSums::add(): the rows of a cluster in ascending order. Calls for several ranges
/// are in ascending order. `labels` (n, in [0, k)) and `totals` are in device memory.
template <class T>
void enqueue_compensated_sums(lloyd::RowRange rows, const Samples<T>& samples,
                              const std::int32_t* labels, std::int64_t clusters,
                              const Totals& totals, cudaStream_t stream);

}  // namespace lloyd_cuda
