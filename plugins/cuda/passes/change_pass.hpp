// The change of the cluster sums and counts from one pass to the next.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/abi/pass_kernels.hpp>

#include "cuda/passes/cluster_sums.hpp"

namespace lloyd_cuda {

/// Enqueues changes = totals - former (counts modulo 2^64), for k clusters of d features. The
/// arrays are in device memory, except that `changes` may be in mapped host memory; if its sums are
/// null, only the counts are computed.
void enqueue_changes(const Totals& totals, const Totals& former, const Totals& changes,
                     std::int64_t clusters, std::int64_t features, cudaStream_t stream);

/// Arrays of a caller in device memory, to which the changes of a pass are added. Null: not
/// requested.
struct ChangeTargets {
  lloyd::SumLimbs limbs;            ///< of `sums`
  std::int64_t* sums = nullptr;     ///< limbs x k x d
  std::int64_t* counts = nullptr;   ///< k
  std::int64_t* changed = nullptr;  ///< 1: number of changed labels
};

/// Enqueues two additions to `targets`: totals - former (sums in limbs, lloyd::add_limbs()), and
/// `*changed` (device memory) to `targets.changed`.
void enqueue_add_changes(const Totals& totals, const Totals& former,
                         const unsigned long long* changed, const ChangeTargets& targets,
                         std::int64_t clusters, std::int64_t features, cudaStream_t stream);

}  // namespace lloyd_cuda
