// The kernels of cuda-naive. All arrays are in device memory; samples are row-major without gaps.
#pragma once

#include <cstdint>

#include "cuda/passes/pass.hpp"

namespace lloyd_cuda_naive {

/// Variants of the update.
enum class Update : std::int64_t {
  atomic = 0,  ///< one thread per sample adds to the totals in global memory
  block = 1,   ///< the first thread of each block sums the block's samples
  serial = 2,  ///< one thread per cluster and feature reads all samples
};

/// Labels the rows of a pass, one thread per sample.
template <class T>
void enqueue_assignment(const lloyd_cuda::Pass& pass, const lloyd_cuda::Samples<T>& samples,
                        int block_size);

/// Adds the rows of a pass to its totals by their labels.
template <class T>
void enqueue_update(const lloyd_cuda::Pass& pass, const lloyd_cuda::Samples<T>& samples,
                    Update update, int block_size);

}  // namespace lloyd_cuda_naive
