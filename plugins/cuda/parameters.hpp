// The parameters that every CUDA backend has.
#pragma once

#include <cstdint>

#include <lloyd/plugin/parameters.hpp>

namespace lloyd_cuda {

/// `device`, for a schema.
constexpr lloyd::ParameterInfo device_parameter() {
  return lloyd::integer_parameter("device", 0, 0, 15, "index of the CUDA device");
}
/// `block_size`, for a schema, with its default.
constexpr lloyd::ParameterInfo block_size_parameter(std::int64_t threads) {
  return lloyd::integer_parameter("block_size", threads, 32, 1024,
                                  "threads of a block, rounded down to a multiple of 32");
}
/// The threads of a block: whole warps, whose lanes some kernels let work together.
inline int block_size_of(const lloyd::ParameterList& parameters) {
  return static_cast<int>(parameters.integer("block_size") / 32 * 32);
}

}  // namespace lloyd_cuda
