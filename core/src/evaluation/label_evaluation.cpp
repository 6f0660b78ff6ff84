#include "evaluation/label_evaluation.hpp"

#include <algorithm>
#include <limits>

#include <lloyd/plugin/sdk/distance.hpp>

namespace lloyd {
namespace {

template <class T>
const T* row_of(const Matrix& matrix, std::int64_t i) {
  return static_cast<const T*>(matrix.data) + i * matrix.stride;
}

// nearest_centroid(), with four centroids at a time to overlap the latency of their sums.
template <class T>
Nearest find_nearest(const T* x, const double* centroids, std::int64_t k, std::int64_t d) {
  constexpr std::int64_t kPairs = 4;
  const T* const samples[kPairs] = {x, x, x, x};
  Nearest best{0, std::numeric_limits<double>::infinity()};
  std::int64_t c = 0;
  for (; c + kPairs <= k; c += kPairs) {
    const double* const first = centroids + c * d;
    const double* const four[kPairs] = {first, first + d, first + 2 * d, first + 3 * d};
    double distances[kPairs];
    squared_distances(samples, four, d, distances);
    for (std::int64_t p = 0; p < kPairs; ++p) {
      if (distances[p] < best.squared_distance) {
        best = {static_cast<std::int32_t>(c + p), distances[p]};
      }
    }
  }
  for (; c < k; ++c) {
    const double distance = squared_distance(x, centroids + c * d, d);
    if (distance < best.squared_distance) best = {static_cast<std::int32_t>(c), distance};
  }
  return best;
}

// Calls `body` with a typed pointer to the values of the matrix.
template <class Body>
void with_type(const Matrix& matrix, const Body& body) {
  if (matrix.dtype == DType::float32) {
    body(0.0F);
  } else {
    body(0.0);
  }
}

}  // namespace

LabelEvaluation::LabelEvaluation(std::span<const double> centroids, std::int64_t features,
                                 std::span<const std::int32_t> labels)
    : centroids_(centroids),
      features_(features),
      clusters_(std::ssize(centroids) / features),
      labels_(labels) {}

void LabelEvaluation::add_inertia(std::int64_t first, const Matrix& block) {
  with_type(block, [&](auto type) {
    for (std::int64_t i = 0; i < block.rows; ++i) {
      const std::int64_t label = labels_[static_cast<std::size_t>(first + i)];
      inertia_.add(squared_distance(row_of<decltype(type)>(block, i),
                                    centroids_.data() + label * features_, features_));
    }
  });
}

template <class T>
void LabelEvaluation::compare_row(std::int64_t row, const T* x) {
  const Nearest nearest = find_nearest(x, centroids_.data(), clusters_, features_);
  const std::int32_t label = labels_[static_cast<std::size_t>(row)];
  if (label == nearest.label) return;
  if (check_.wrong++ == 0) check_.first_wrong = row;
  double ratio = std::numeric_limits<double>::infinity();
  if (label >= 0 && label < clusters_) {
    const double distance = squared_distance(x, centroids_.data() + label * features_, features_);
    if (distance == nearest.squared_distance) {
      ratio = 1;
    } else if (nearest.squared_distance > 0) {
      ratio = distance / nearest.squared_distance;
    }
  }
  check_.worst_ratio = std::max(check_.worst_ratio, ratio);
}

void LabelEvaluation::compare(std::int64_t first, const Matrix& block) {
  with_type(block, [&](auto type) {
    for (std::int64_t i = 0; i < block.rows; ++i) {
      compare_row(first + i, row_of<decltype(type)>(block, i));
    }
  });
}

void LabelEvaluation::compare(std::int64_t first, const Matrix& block,
                              std::span<const std::int64_t>& rows) {
  with_type(block, [&](auto type) {
    for (; !rows.empty() && rows.front() < first + block.rows; rows = rows.subspan(1)) {
      compare_row(rows.front(), row_of<decltype(type)>(block, rows.front() - first));
    }
  });
}

}  // namespace lloyd
