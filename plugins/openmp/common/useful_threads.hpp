// How many threads a problem can keep busy.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lloyd_openmp {

/// Number of threads, 1 to `threads`, with which a pass over n samples of d features and k
/// centroids takes the least time.
///
/// With T threads a pass takes W / T + T c, which is least for T = sqrt(W / c). W is the number of
/// operations for all n k distances, an upper bound: a pass that prunes does less. c is what a
/// thread adds to the sequential part of a pass, in the same unit: it is called, keeps the others
/// waiting for its last block, and has its own sums of k d values, which are merged into those of
/// the other threads.
inline int useful_threads(std::int64_t n, std::int64_t k, std::int64_t d, int threads) {
  constexpr double kOperationsPerThread = 1.5e6;
  constexpr double kOperationsPerSum = 128;
  const auto real = [](std::int64_t value) { return static_cast<double>(value); };
  const double work = real(n) * real(k) * real(d + 2);
  const double cost = kOperationsPerThread + kOperationsPerSum * real(k) * real(d);
  return static_cast<int>(std::clamp(std::sqrt(work / cost), 1.0, static_cast<double>(threads)));
}

}  // namespace lloyd_openmp
