#include "fit/distances.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <lloyd/data/row_source.hpp>
#include <lloyd/error.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "supervision/interrupt.hpp"

namespace lloyd::apps {
namespace {

// Rows of the blocks in which `samples` x `features` values are read.
std::int64_t distance_block_rows(std::int64_t samples, std::int64_t features) {
  constexpr std::int64_t kBlockValues = std::int64_t{1} << 20;
  return std::min(samples, std::max<std::int64_t>(1, kBlockValues / features));
}

template <class T>
void append_distances(const RowSource& rows, const std::vector<double>& centroids,
                      const std::vector<std::int32_t>& labels, std::vector<double>& distances) {
  const std::int64_t n = rows.samples();
  const std::int64_t d = rows.features();
  const std::int64_t most = distance_block_rows(n, d);
  std::vector<T> block(static_cast<std::size_t>(most * d));
  for (std::int64_t begin = 0; begin < n; begin += most) {
    if (interrupted()) throw Cancelled();
    const RowRange part{begin, std::min(begin + most, n)};
    rows.read(part, block.data());
    for (std::int64_t i = part.begin; i < part.end; ++i) {
      const std::int64_t label = labels[static_cast<std::size_t>(i)];
      distances.push_back(std::sqrt(
          squared_distance(block.data() + (i - begin) * d, centroids.data() + label * d, d)));
    }
  }
}

}  // namespace

std::vector<double> distances_to_centroids(const Dataset& dataset,
                                           const std::vector<double>& centroids,
                                           const std::vector<std::int32_t>& labels) {
  const FloatEnvironment environment;  // the backend may have changed the modes of this thread
  const std::shared_ptr<const RowSource> rows =
      dataset.in_memory() ? rows_of(dataset.name(), dataset.matrix()) : dataset.source();
  std::vector<double> distances;
  distances.reserve(labels.size());
  if (rows->dtype() == DType::float32) {
    append_distances<float>(*rows, centroids, labels, distances);
  } else {
    append_distances<double>(*rows, centroids, labels, distances);
  }
  return distances;
}

std::int64_t distances_bytes(std::int64_t samples, std::int64_t features) {
  constexpr std::int64_t kValueBytes = sizeof(double);  // also the largest of a sample
  return (samples + distance_block_rows(samples, features) * features) * kValueBytes;
}

}  // namespace lloyd::apps
