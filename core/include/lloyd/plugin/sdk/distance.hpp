// The distance that defines labels and inertia.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lloyd {

/// Squared Euclidean distance between a sample x and a centroid c of d features: the sum over
/// ascending j of (x_j - c_j)^2, each operation rounded to float64 and none contracted into a fused
/// multiply-add (compile with -ffp-contract=off, as lloyd_add_plugin does).
template <class T>
inline double squared_distance(const T* x, const double* c, std::int64_t d) {
  double sum = 0;
  for (std::int64_t j = 0; j < d; ++j) {
    const double difference = static_cast<double>(x[j]) - c[j];
    sum += difference * difference;
  }
  return sum;
}

/// distances[i] = squared_distance(x[i], c[i], d) for `Pairs` pairs, with the same bits.
/// Interleaving independent sums hides the latency of the additions.
template <std::size_t Pairs, class T>
inline void squared_distances(const T* const (&x)[Pairs], const double* const (&c)[Pairs],
                              std::int64_t d, double (&distances)[Pairs]) {
  double sums[Pairs] = {};
  for (std::int64_t j = 0; j < d; ++j) {
    for (std::size_t pair = 0; pair < Pairs; ++pair) {
      const double difference = static_cast<double>(x[pair][j]) - c[pair][j];
      sums[pair] += difference * difference;
    }
  }
  for (std::size_t pair = 0; pair < Pairs; ++pair) distances[pair] = sums[pair];
}

/// The nearest centroid of a sample.
struct Nearest {
  std::int32_t label;       ///< index of the centroid
  double squared_distance;  ///< to it
};

/// The nearest of k centroids (k x d, row-major) by the definition; ties go to the lowest index.
template <class T>
inline Nearest nearest_centroid(const T* x, const double* centroids, std::int64_t k,
                                std::int64_t d) {
  Nearest best{0, squared_distance(x, centroids, d)};
  for (std::int64_t c = 1; c < k; ++c) {
    const double distance = squared_distance(x, centroids + c * d, d);
    if (distance < best.squared_distance) best = {static_cast<std::int32_t>(c), distance};
  }
  return best;
}

}  // namespace lloyd
