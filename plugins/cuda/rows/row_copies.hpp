// Copies of samples within device memory: chosen rows, and rows without gaps.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace lloyd_cuda {

/// Enqueues a copy of chosen rows: row i of `to` is row `row_numbers[i]` of `from`, whose rows are
/// `stride` values apart. `to` has `count` x d values without gaps. All pointers are device memory.
/// From and To: float to float or double, double to double.
template <class From, class To>
void enqueue_gather(const From* from, std::int64_t stride, std::int64_t features,
                    const std::int64_t* row_numbers, std::int64_t count, To* to,
                    cudaStream_t stream);

/// Enqueues a copy of rows x d values without the gaps between the rows of `from`, which are
/// `stride` values apart.
template <class T>
void enqueue_packing(const T* from, std::int64_t stride, std::int64_t rows, std::int64_t features,
                     T* to, cudaStream_t stream);

}  // namespace lloyd_cuda
