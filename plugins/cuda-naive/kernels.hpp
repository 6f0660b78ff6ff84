// The kernels of cuda-naive. All arrays are device memory, samples lie one after the other.
#pragma once

#include <cstdint>

#include "cuda/pass.hpp"

namespace lloyd_cuda_naive {

/// Who adds up the samples of a cluster.
enum class Update : std::int64_t {
  atomic = 0,  ///< every sample's thread, into the totals in global memory
  block = 1,   ///< the first thread of a block, for the block's samples
  serial = 2,  ///< a thread per cluster and feature, over all samples
};

/// Labels the rows of a pass, a thread a sample.
template <class T>
void enqueue_assignment(const lloyd_cuda::Pass& pass, const lloyd_cuda::Samples<T>& samples,
                        int block_size);

/// Adds the rows of a pass, by its labels, to its totals.
template <class T>
void enqueue_update(const lloyd_cuda::Pass& pass, const lloyd_cuda::Samples<T>& samples,
                    Update update, int block_size);

}  // namespace lloyd_cuda_naive
