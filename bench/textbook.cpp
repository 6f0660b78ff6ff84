#include "textbook.hpp"

#include <limits>

namespace lloyd::bench {

template <class T>
void textbook_kmeans(const T* data, std::int64_t n, std::int64_t d, std::int64_t k,
                     std::int64_t iterations, std::vector<T>& centroids,
                     std::vector<std::int32_t>& labels) {
  std::vector<double> sums(centroids.size());
  std::vector<std::int64_t> counts(static_cast<std::size_t>(k));
  for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
    for (std::int64_t i = 0; i < n; ++i) {
      T least = std::numeric_limits<T>::max();
      std::int32_t nearest = 0;
      for (std::int64_t c = 0; c < k; ++c) {
        T distance = 0;
        for (std::int64_t j = 0; j < d; ++j) {
          const T difference = data[i * d + j] - centroids[static_cast<std::size_t>(c * d + j)];
          distance += difference * difference;
        }
        if (distance < least) {
          least = distance;
          nearest = static_cast<std::int32_t>(c);
        }
      }
      labels[static_cast<std::size_t>(i)] = nearest;
    }
    sums.assign(sums.size(), 0);
    counts.assign(counts.size(), 0);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int32_t label = labels[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < d; ++j) {
        sums[static_cast<std::size_t>(label * d + j)] += static_cast<double>(data[i * d + j]);
      }
      ++counts[static_cast<std::size_t>(label)];
    }
    for (std::int64_t c = 0; c < k; ++c) {
      const auto count = static_cast<double>(counts[static_cast<std::size_t>(c)]);
      if (count == 0) continue;
      for (std::int64_t j = 0; j < d; ++j) {
        const auto at = static_cast<std::size_t>(c * d + j);
        centroids[at] = static_cast<T>(sums[at] / count);
      }
    }
  }
}

template void textbook_kmeans(const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                              std::vector<float>&, std::vector<std::int32_t>&);
template void textbook_kmeans(const double*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                              std::vector<double>&, std::vector<std::int32_t>&);

}  // namespace lloyd::bench
