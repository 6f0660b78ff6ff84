// Arithmetic of memory sizes that cannot overflow.
#pragma once

#include <cstdint>
#include <limits>

#include <lloyd/plugin/abi/backend.hpp>

namespace lloyd_cuda {

/// An estimate from sizes in float64, capped at 2^62.
inline lloyd::MemoryEstimate make_estimate(double host_bytes, double device_bytes) {
  const auto clamped = [](double bytes) {
    return bytes < 0x1p62 ? static_cast<std::int64_t>(bytes) : std::int64_t{1} << 62;
  };
  lloyd::MemoryEstimate memory;
  memory.host_bytes = clamped(host_bytes);
  memory.device_bytes = clamped(device_bytes);
  return memory;
}

/// The sum of two sizes, saturating.
inline std::int64_t add_bytes(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

}  // namespace lloyd_cuda
