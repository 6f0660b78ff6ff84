// Statistics of samples in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/abi/device_memory.hpp>

#include "cuda/passes/samples.hpp"

namespace lloyd_cuda {

/// Implements lloyd::DeviceMemory::describe() for n samples, with the bits of
/// lloyd::BlockStatistics: one thread adds the rows of a block for one feature, and the host merges
/// the blocks. Waits for the stream. Throws StatusError.
template <class T>
void describe_samples(const Samples<T>& samples, std::int64_t rows,
                      lloyd::RowsDescription& description, cudaStream_t stream);

}  // namespace lloyd_cuda
