// How many threads a problem can keep busy.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lloyd_openmp {

/// Number of threads, 1 to `threads`, that can be kept busy with the distances of n samples of d
/// features to k centroids. Waking a thread takes as long as a few million operations.
inline int useful_threads(std::int64_t n, std::int64_t k, std::int64_t d, int threads) {
  constexpr double kMinOperationsPerThread = 4e6;
  const double operations =
      static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(d + 2);
  return static_cast<int>(
      std::clamp(operations / kMinOperationsPerThread, 1.0, static_cast<double>(threads)));
}

}  // namespace lloyd_openmp
