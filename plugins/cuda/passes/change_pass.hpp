// The change of the cluster sums and counts from one pass to the next.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/passes/cluster_sums.hpp"

namespace lloyd_cuda {

/// Enqueues changes = totals - former (counts modulo 2^64), for k clusters of d features. The
/// arrays are in device memory, except that `changes` may be in mapped host memory; if its sums are
/// null, only the counts are computed.
void enqueue_changes(const Totals& totals, const Totals& former, const Totals& changes,
                     std::int64_t clusters, std::int64_t features, cudaStream_t stream);

}  // namespace lloyd_cuda
