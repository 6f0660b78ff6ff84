// The parameters that all CUDA backends share.
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/parameters.hpp>

namespace lloyd_cuda {

/// Schema of `device`.
constexpr lloyd::ParameterInfo device_parameter() {
  return lloyd::integer_parameter("device", 0, 0, 15, "index of the CUDA device");
}
/// Schema of `block_size`, with a default.
constexpr lloyd::ParameterInfo block_size_parameter(std::int64_t threads) {
  return lloyd::integer_parameter("block_size", threads, 32, 1024,
                                  "threads of a block, rounded down to a multiple of 32");
}
/// Schema of `memory_limit`.
constexpr lloyd::ParameterInfo memory_limit_parameter() {
  return lloyd::integer_parameter("memory_limit", 0, 0, std::int64_t{1} << 40,
                                  "limit of device memory, in MiB; 0: 90 % of the device's");
}
/// The threads per block: block_size rounded down to whole warps, whose lanes cooperate in some
/// kernels.
inline int block_size_of(const lloyd::ParameterList& parameters) {
  return static_cast<int>(parameters.integer("block_size") / 32 * 32);
}

}  // namespace lloyd_cuda
