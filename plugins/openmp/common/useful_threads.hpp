// The number of threads with which a pass is fastest.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lloyd_openmp {

/// Number of threads, 1 to `threads`, with which a pass over n samples of d features and k
/// centroids takes the least time.
///
/// With T threads a pass takes the time of W / T + T c operations, which is least for
/// T = sqrt(W / c). W is the number of operations for all n k distances, an upper bound: a pass
/// that prunes does less. c is the cost of a thread, in operations: it must be woken, the others
/// wait for its last block, and its own sums of k d values must be merged
/// (docs/design/openmp/threads.md).
inline int useful_threads(std::int64_t n, std::int64_t k, std::int64_t d, int threads) {
  constexpr double kOperationsPerThread = 1.5e6;
  constexpr double kOperationsPerSum = 128;
  const auto real = [](std::int64_t value) { return static_cast<double>(value); };
  const double work = real(n) * real(k) * real(d + 2);
  const double cost = kOperationsPerThread + kOperationsPerSum * real(k) * real(d);
  return static_cast<int>(std::clamp(std::sqrt(work / cost), 1.0, static_cast<double>(threads)));
}

}  // namespace lloyd_openmp
