#include <lloyd/criteria.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/sampled_rows.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "dataset/check_shape.hpp"
#include "dataset/row_blocks.hpp"

namespace lloyd {
namespace {

constexpr std::int64_t kRowsPerPoll = 1024;  // rows between two calls of the stop function

// Calls `body` with the number of the row and a float32 or float64 pointer to its values.
template <class Body>
void for_each_row(const Dataset& dataset, std::int64_t block_rows, const StopFunction& stop,
                  const Body& body) {
  const auto visit = [&](std::int64_t first, std::int64_t rows, std::int64_t stride,
                         const auto* values) {
    for (std::int64_t i = 0; i < rows; ++i) {
      if ((first + i) % kRowsPerPoll == 0 && stop && stop()) throw Cancelled();
      body(first + i, values + i * stride);
    }
  };
  const auto visit_block = [&](std::int64_t first, std::int64_t rows, std::int64_t stride,
                               const void* data) {
    if (dataset.dtype() == DType::float32) {
      visit(first, rows, stride, static_cast<const float*>(data));
    } else {
      visit(first, rows, stride, static_cast<const double*>(data));
    }
  };
  dataset.check_mapped_file();
  require_host_memory(dataset, "a criterion for the number of clusters");
  if (dataset.in_memory()) {
    visit_block(0, dataset.samples(), dataset.matrix().stride, dataset.matrix().data);
    return;
  }
  const RowSource& source = *dataset.source();
  RowBlocks blocks(source, block_rows == 0 ? usual_block_rows(source) : block_rows);
  blocks.for_each([&](RowRange rows, const void* data) {
    visit_block(rows.begin, rows.size(), dataset.features(), data);
  });
}

void check_partition(const Dataset& dataset, std::span<const std::int32_t> labels,
                     std::int64_t clusters, std::int64_t block_rows) {
  constexpr std::int64_t kMaxClusters = std::numeric_limits<std::int32_t>::max();
  if (clusters < 1 || clusters > kMaxClusters) {
    throw InputError(fmt::format("{}: clusters is {}; it must be 1 to {}", dataset.name(), clusters,
                                 kMaxClusters));
  }
  if (block_rows < 0) {
    throw InputError(
        fmt::format("{}: block_rows is {}; it must be at least 1, or 0 for the default",
                    dataset.name(), block_rows));
  }
  if (std::ssize(labels) != dataset.samples()) {
    throw InputError(fmt::format("{}: there are {} labels for {}", dataset.name(), labels.size(),
                                 format_count(dataset.samples(), "sample")));
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= 0 && labels[i] < clusters) continue;
    throw InputError(fmt::format("{}: the label of row {} (counted from 0) is {}, not in 0 to {}",
                                 dataset.name(), i, labels[i], clusters - 1));
  }
}

// The clusters that have samples, renumbered without gaps.
class Partition {
 public:
  Partition(const Dataset& dataset, std::span<const std::int32_t> labels, std::int64_t block_rows,
            const StopFunction& stop)
      : labels_(labels), features_(dataset.features()) {
    // Not one entry for each of `clusters`, which may be far more than there are labels.
    std::int64_t label_count = 0;
    for (const std::int32_t label : labels) {
      label_count = std::max(label_count, std::int64_t{label} + 1);
    }
    number_.assign(static_cast<std::size_t>(label_count), -1);
    for (const std::int32_t label : labels) number_[static_cast<std::size_t>(label)] = 0;
    std::int64_t next = 0;
    for (std::int64_t& number : number_) {
      if (number == 0) number = next++;
    }
    counts_.resize(static_cast<std::size_t>(next));
    means_.resize(static_cast<std::size_t>(next * features_));
    center_.resize(static_cast<std::size_t>(features_));
    for_each_row(dataset, block_rows, stop, [&](std::int64_t row, const auto* x) {
      const std::int64_t c = cluster_of(row);
      ++counts_[static_cast<std::size_t>(c)];
      double* const sum = means_.data() + c * features_;
      for (std::int64_t j = 0; j < features_; ++j) sum[j] += static_cast<double>(x[j]);
    });
    divide_sums(dataset.samples());
  }

  std::int64_t clusters() const { return std::ssize(counts_); }
  std::int64_t count(std::int64_t c) const { return counts_[static_cast<std::size_t>(c)]; }
  const double* mean(std::int64_t c) const { return means_.data() + c * features_; }
  const double* center() const { return center_.data(); }
  std::int64_t cluster_of(std::int64_t row) const {
    return number_[static_cast<std::size_t>(labels_[static_cast<std::size_t>(row)])];
  }

 private:
  void divide_sums(std::int64_t samples) {
    for (std::int64_t c = 0; c < clusters(); ++c) {
      for (std::int64_t j = 0; j < features_; ++j) {
        double& sum = means_[static_cast<std::size_t>(c * features_ + j)];
        center_[static_cast<std::size_t>(j)] += sum;
        sum /= static_cast<double>(count(c));
      }
    }
    for (double& sum : center_) sum /= static_cast<double>(samples);
  }

  std::span<const std::int32_t> labels_;
  std::int64_t features_;
  std::vector<std::int64_t> number_;  // by label; -1: the label has no samples
  std::vector<std::int64_t> counts_;
  std::vector<double> means_;   // k x d
  std::vector<double> center_;  // d
};

std::int64_t silhouette_samples(std::int64_t samples, std::int64_t clusters,
                                std::int64_t features) {
  const std::int64_t affordable = kMaxSilhouetteValues / features / clusters;
  return std::min(samples, std::max(affordable, kMinSilhouetteSamples));
}

// s(i) of a sample of cluster `own`. Takes four means at a time to overlap the latency of the sums.
template <class T>
double silhouette_of(const T* x, std::int64_t own, const Partition& partition, std::int64_t d) {
  constexpr std::int64_t kPairs = 4;
  const std::int64_t k = partition.clusters();
  if (partition.count(own) == 1) return 0;
  double own_square = 0;
  double other_square = std::numeric_limits<double>::infinity();
  const auto take = [&](std::int64_t c, double square) {
    if (c == own) {
      own_square = square;
    } else {
      other_square = std::min(other_square, square);
    }
  };
  const T* const samples[kPairs] = {x, x, x, x};
  std::int64_t c = 0;
  for (; c + kPairs <= k; c += kPairs) {
    const double* const means[kPairs] = {partition.mean(c), partition.mean(c + 1),
                                         partition.mean(c + 2), partition.mean(c + 3)};
    double squares[kPairs];
    squared_distances(samples, means, d, squares);
    for (std::int64_t p = 0; p < kPairs; ++p) take(c + p, squares[p]);
  }
  for (; c < k; ++c) take(c, squared_distance(x, partition.mean(c), d));
  const double a = std::sqrt(own_square);
  const double b = std::sqrt(other_square);
  return std::max(a, b) > 0 ? (b - a) / std::max(a, b) : 0;
}

double calinski_harabasz(const Partition& partition, std::int64_t samples, std::int64_t d,
                         double within) {
  const std::int64_t k = partition.clusters();
  if (k == samples || !(within > 0)) return std::numeric_limits<double>::quiet_NaN();
  double between = 0;
  for (std::int64_t c = 0; c < k; ++c) {
    between += static_cast<double>(partition.count(c)) *
               squared_distance(partition.mean(c), partition.center(), d);
  }
  return between / static_cast<double>(k - 1) / (within / static_cast<double>(samples - k));
}

// `spreads`: S_c of each cluster.
double davies_bouldin(const Partition& partition, const std::vector<double>& spreads,
                      std::int64_t d, const StopFunction& stop) {
  const std::int64_t k = partition.clusters();
  double sum = 0;
  for (std::int64_t c = 0; c < k; ++c) {
    if (stop && stop()) throw Cancelled();
    double largest = 0;
    for (std::int64_t e = 0; e < k; ++e) {
      if (e == c) continue;
      const double apart = std::sqrt(squared_distance(partition.mean(c), partition.mean(e), d));
      const double spread =
          spreads[static_cast<std::size_t>(c)] + spreads[static_cast<std::size_t>(e)];
      largest =
          std::max(largest, apart > 0 ? spread / apart : std::numeric_limits<double>::infinity());
    }
    sum += largest;
  }
  return sum / static_cast<double>(k);
}

// The number of clusters, the within sum of squares and the silhouette. `spreads` has a zero for
// each cluster, to which the distances of its samples to its mean are added.
ClusterCriteria criteria_of_distances(const Dataset& dataset, const Partition& partition,
                                      std::int64_t block_rows, const StopFunction& stop,
                                      std::vector<double>& spreads) {
  const std::int64_t n = dataset.samples();
  const std::int64_t d = dataset.features();
  const std::int64_t k = partition.clusters();
  ClusterCriteria criteria;
  criteria.clusters = k;
  const std::vector<std::int64_t> chosen =
      sampled_rows(n, k == 1 ? 0 : silhouette_samples(n, k, d));
  std::span<const std::int64_t> left = chosen;
  double silhouettes = 0;
  for_each_row(dataset, block_rows, stop, [&](std::int64_t row, const auto* x) {
    const std::int64_t c = partition.cluster_of(row);
    const double square = squared_distance(x, partition.mean(c), d);
    criteria.within_sum_of_squares += square;
    spreads[static_cast<std::size_t>(c)] += std::sqrt(square);
    if (left.empty() || left.front() != row) return;
    left = left.subspan(1);
    silhouettes += silhouette_of(x, c, partition, d);
  });
  if (k == 1) return criteria;
  criteria.silhouette_samples = std::ssize(chosen);
  criteria.silhouette = silhouettes / static_cast<double>(chosen.size());
  return criteria;
}

}  // namespace

ClusterCriteria cluster_criteria(const Dataset& dataset, std::span<const std::int32_t> labels,
                                 std::int64_t clusters, std::int64_t block_rows,
                                 const StopFunction& stop) {
  const FloatEnvironment environment;
  check_partition(dataset, labels, clusters, block_rows);
  const Partition partition(dataset, labels, block_rows, stop);
  const std::int64_t d = dataset.features();
  const std::int64_t k = partition.clusters();
  std::vector<double> spreads(static_cast<std::size_t>(k));
  ClusterCriteria criteria = criteria_of_distances(dataset, partition, block_rows, stop, spreads);
  if (k == 1) return criteria;
  for (std::int64_t c = 0; c < k; ++c) {
    spreads[static_cast<std::size_t>(c)] /= static_cast<double>(partition.count(c));
  }
  criteria.calinski_harabasz =
      calinski_harabasz(partition, dataset.samples(), d, criteria.within_sum_of_squares);
  criteria.davies_bouldin = davies_bouldin(partition, spreads, d, stop);
  return criteria;
}

SimplifiedSilhouette simplified_silhouette(const Dataset& dataset,
                                           std::span<const std::int32_t> labels,
                                           std::int64_t clusters, std::int64_t block_rows,
                                           const StopFunction& stop) {
  const FloatEnvironment environment;
  check_partition(dataset, labels, clusters, block_rows);
  const Partition partition(dataset, labels, block_rows, stop);
  std::vector<double> spreads(static_cast<std::size_t>(partition.clusters()));
  const ClusterCriteria criteria =
      criteria_of_distances(dataset, partition, block_rows, stop, spreads);
  return {criteria.silhouette, criteria.silhouette_samples};
}

}  // namespace lloyd
