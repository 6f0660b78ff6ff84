#include "seeding/matrix_samples.hpp"

#include <algorithm>
#include <array>
#include <mutex>

namespace lloyd {
namespace {

// Distances to two centroids in one SIMD register; every supported machine has 16-byte vectors.
typedef double Pair __attribute__((vector_size(16)));

constexpr std::int64_t kMaxGroup = 8;  // centroids per group

// Up to kMaxGroup centroids, transposed: the values of one feature are contiguous. Unused lanes are
// zero.
class CentroidGroup {
 public:
  CentroidGroup(const double* centroids, std::int64_t count, std::int64_t features)
      : count_(count),
        pairs_((count + 1) / 2),
        values_(static_cast<std::size_t>(features * pairs_)) {
    for (std::int64_t c = 0; c < count; ++c) {
      for (std::int64_t j = 0; j < features; ++j) {
        values_[static_cast<std::size_t>(j * pairs_ + c / 2)][c % 2] = centroids[c * features + j];
      }
    }
  }

  // Squared distances of x to all centroids of the group. Each is summed over ascending features,
  // so it has the bits of squared_distance().
  template <class T>
  std::array<Pair, kMaxGroup / 2> distances(const T* x, std::int64_t features) const {
    switch (pairs_) {
      case 1:
        return distances<1>(x, features);
      case 2:
        return distances<2>(x, features);
      case 3:
        return distances<3>(x, features);
      default:
        return distances<kMaxGroup / 2>(x, features);
    }
  }

  std::int64_t count() const { return count_; }

 private:
  template <std::size_t Pairs, class T>
  std::array<Pair, kMaxGroup / 2> distances(const T* x, std::int64_t features) const {
    std::array<Pair, kMaxGroup / 2> sums{};
    const Pair* coordinate = values_.data();
    for (std::int64_t j = 0; j < features; ++j, coordinate += Pairs) {
      const auto value = static_cast<double>(x[j]);
      for (std::size_t p = 0; p < Pairs; ++p) {
        const Pair difference = value - coordinate[p];
        sums[p] += difference * difference;
      }
    }
    return sums;
  }

  std::int64_t count_;
  std::int64_t pairs_;
  std::vector<Pair> values_;
};

std::vector<CentroidGroup> grouped(std::span<const double> centroids, std::int64_t features) {
  const std::int64_t count = static_cast<std::int64_t>(centroids.size()) / features;
  std::vector<CentroidGroup> groups;
  for (std::int64_t c = 0; c < count; c += kMaxGroup) {
    groups.emplace_back(centroids.data() + c * features, std::min(kMaxGroup, count - c), features);
  }
  return groups;
}

// Rows per range: enough work for a thread, but little enough to react to cancellation soon.
std::int64_t range_rows(std::size_t values_per_row) {
  constexpr std::int64_t kWork = std::int64_t{1} << 21;
  return std::clamp<std::int64_t>(kWork / static_cast<std::int64_t>(values_per_row), 1, 1 << 16);
}

template <class T>
const T* sample_row(const Matrix& matrix, std::int64_t i) {
  return static_cast<const T*>(matrix.data) + i * matrix.stride;
}

template <class T>
double fold(const Matrix& matrix, RowRange rows, const std::vector<CentroidGroup>& groups,
            std::int64_t first_index, double* squared_distances, std::int32_t* nearest) {
  std::int64_t index = first_index;
  for (const CentroidGroup& group : groups) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const auto distances = group.distances(sample_row<T>(matrix, i), matrix.columns);
      for (std::int64_t c = 0; c < group.count(); ++c) {
        const double distance = distances[static_cast<std::size_t>(c / 2)][c % 2];
        if (!(distance < squared_distances[i])) continue;
        squared_distances[i] = distance;
        if (nearest != nullptr) nearest[i] = static_cast<std::int32_t>(index + c);
      }
    }
    index += group.count();
  }
  return *std::max_element(squared_distances + rows.begin, squared_distances + rows.end);
}

template <class T>
void add_gains(const Matrix& matrix, RowRange rows, const std::vector<CentroidGroup>& groups,
               const std::int64_t* multiplicities, const double* squared_distances,
               const WeightScale& scale, std::int64_t* gains) {
  for (const CentroidGroup& group : groups) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const auto distances = group.distances(sample_row<T>(matrix, i), matrix.columns);
      const double current = squared_distances[i];
      for (std::int64_t c = 0; c < group.count(); ++c) {
        const double distance = distances[static_cast<std::size_t>(c / 2)][c % 2];
        if (!(distance < current)) continue;
        const std::int64_t times = multiplicities == nullptr ? 1 : multiplicities[i];
        gains[c] += times * (scale.weight(current) - scale.weight(distance));
      }
    }
    gains += group.count();
  }
}

}  // namespace

void MatrixSamples::copy_rows(std::span<const std::int64_t> indices, double* values) const {
  for (const std::int64_t i : indices) {
    for (std::int64_t j = 0; j < matrix_.columns; ++j) *values++ = matrix_.at(i, j);
  }
}

double MatrixSamples::fold_nearest(std::span<const double> centroids, std::int64_t first_index,
                                   double* squared_distances, std::int32_t* nearest) {
  const std::vector<CentroidGroup> groups = grouped(centroids, matrix_.columns);
  std::mutex mutex;
  double largest = 0;
  workers_.for_each_range(
      matrix_.rows, range_rows(centroids.size()), [&](std::int64_t begin, std::int64_t end) {
        const auto run = matrix_.dtype == DType::float32 ? fold<float> : fold<double>;
        const double found =
            run(matrix_, {begin, end}, groups, first_index, squared_distances, nearest);
        const std::lock_guard lock(mutex);
        largest = std::max(largest, found);
      });
  return largest;
}

void MatrixSamples::rate(std::span<const double> candidates, const double* squared_distances,
                         const WeightScale& scale, std::span<std::int64_t> gains) {
  const std::vector<CentroidGroup> groups = grouped(candidates, matrix_.columns);
  std::fill(gains.begin(), gains.end(), 0);
  std::mutex mutex;
  workers_.for_each_range(
      matrix_.rows, range_rows(candidates.size()), [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::int64_t> sums(gains.size());
        const auto run = matrix_.dtype == DType::float32 ? add_gains<float> : add_gains<double>;
        run(matrix_, {begin, end}, groups, multiplicities_, squared_distances, scale, sums.data());
        const std::lock_guard lock(mutex);
        for (std::size_t c = 0; c < sums.size(); ++c) gains[c] += sums[c];
      });
}

}  // namespace lloyd
