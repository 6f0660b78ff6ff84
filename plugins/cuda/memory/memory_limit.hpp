// The limit of device memory that a backend's parameter `memory_limit` sets. Needs no CUDA header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace lloyd_cuda {

/// The memory limit in bytes: `mebibytes`, or 90 % of the device's memory if that is less or
/// `mebibytes` is 0. A device of 0 bytes (unknown) is no limit.
inline double limit_bytes(std::int64_t mebibytes, std::int64_t card_bytes) {
  const double card = card_bytes > 0 ? 0.9 * static_cast<double>(card_bytes)
                                     : std::numeric_limits<double>::infinity();
  return mebibytes > 0 ? std::min(card, static_cast<double>(mebibytes) * (1 << 20)) : card;
}

}  // namespace lloyd_cuda
