#pragma once

namespace cub {

struct DeviceScan {
  template <class T>
  static cudaError_t InclusiveSum(void* memory, std::size_t& bytes, T* from, T* to,
                                  std::int64_t count, cudaStream_t stream) {
    if (memory == nullptr) {
      bytes = 1;
      return cudaSuccess;
    }
    emulation::enqueue(stream, [=] {
      T sum = 0;
      for (std::int64_t i = 0; i < count; ++i) to[i] = sum += from[i];
    });
    return cudaSuccess;
  }
};

}  // namespace cub
