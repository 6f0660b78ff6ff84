// The textbook's loop, for comparison with the baseline.
#pragma once

#include <cstdint>
#include <vector>

namespace lloyd::bench {

/// Runs `iterations` iterations of Lloyd's algorithm on n x d row-major samples. Distances and
/// centroids are in T (float or double), sums in float64; empty clusters keep their centroids.
/// `centroids` (k x d) are input and output.
template <class T>
void textbook_kmeans(const T* data, std::int64_t n, std::int64_t d, std::int64_t k,
                     std::int64_t iterations, std::vector<T>& centroids,
                     std::vector<std::int32_t>& labels);

}  // namespace lloyd::bench
