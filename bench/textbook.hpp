// The loop that every textbook prints, as a yardstick for the baseline.
#pragma once

#include <cstdint>
#include <vector>

namespace lloyd::bench {

/// Runs `iterations` of Lloyd's algorithm on n x d row-major samples, T float or double: distances
/// and centroids in T, float64 sums, empty clusters kept. `centroids` (k x d) go in and come out.
template <class T>
void textbook_kmeans(const T* data, std::int64_t n, std::int64_t d, std::int64_t k,
                     std::int64_t iterations, std::vector<T>& centroids,
                     std::vector<std::int32_t>& labels);

}  // namespace lloyd::bench
