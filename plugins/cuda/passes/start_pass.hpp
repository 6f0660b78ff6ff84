// Initializes a fit on the device: centroids, labels (-1) and totals (0).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/passes/cluster_sums.hpp"
#include "cuda/passes/finish_pass.hpp"

namespace lloyd_cuda {

/// Arguments of the start. All pointers are device memory, except that `initial_centroids` may be
/// in mapped host memory.
struct Start {
  std::int64_t samples = 0;                   ///< n
  std::int64_t clusters = 0;                  ///< k
  std::int64_t features = 0;                  ///< d
  const double* initial_centroids = nullptr;  ///< k x d
  double* centroids = nullptr;                ///< k x d, output; may be `initial_centroids`
  float* rounded = nullptr;                   ///< k x d, output in float32, or null
  std::int32_t* labels = nullptr;             ///< n, output: -1
  Totals totals, next_totals;                 ///< output: 0
  LoopState* state = nullptr;                 ///< output: no iteration has finished
};

/// Enqueues the start as one kernel.
void enqueue_start(const Start& start, cudaStream_t stream);

}  // namespace lloyd_cuda
