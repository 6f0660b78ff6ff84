#include "evaluation/label_evaluation.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>

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

// As find_nearest(), among `candidates` (ascending, at least one).
template <class T>
Nearest find_nearest_of(const T* x, const double* centroids, std::int64_t d,
                        std::span<const std::int32_t> candidates) {
  Nearest best{0, std::numeric_limits<double>::infinity()};
  for (const std::int32_t c : candidates) {
    const double distance = squared_distance(x, centroids + c * d, d);
    if (distance < best.squared_distance) best = {c, distance};
  }
  return best;
}

// Below this, packing the centroids for the screen costs more than the screen saves.
constexpr std::int64_t kMinScreenedSamples = 64;
// Rows per range of a parallel loop; a multiple of the screen's tile.
constexpr std::int64_t kComparedRows = 256;
constexpr std::int64_t kSummedRows = 4096;

void merge_checks(const LabelCheck& from, LabelCheck& into) {
  if (from.wrong > 0 && (into.wrong == 0 || from.first_wrong < into.first_wrong)) {
    into.first_wrong = from.first_wrong;
  }
  into.samples += from.samples;
  into.wrong += from.wrong;
  into.worst_ratio = std::max(into.worst_ratio, from.worst_ratio);
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
                                 std::span<const std::int32_t> labels, const RangeWorkers& workers)
    : centroids_(centroids),
      features_(features),
      clusters_(std::ssize(centroids) / features),
      labels_(labels),
      workers_(workers) {}

void LabelEvaluation::add_inertia(std::int64_t first, const Matrix& block) {
  std::mutex mutex;
  with_type(block, [&](auto type) {
    workers_.for_each_range(block.rows, kSummedRows, [&](std::int64_t begin, std::int64_t end) {
      ExactSum sum;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t label = labels_[static_cast<std::size_t>(first + i)];
        sum.add(squared_distance(row_of<decltype(type)>(block, i),
                                 centroids_.data() + label * features_, features_));
      }
      const std::lock_guard lock(mutex);
      inertia_.add(sum);
    });
  });
}

// Compares the label of one row with the definition.
template <class T>
void LabelEvaluation::judge(std::int64_t row, const T* x, const LabelScreen::Finding& finding,
                            LabelCheck& check) const {
  const std::int32_t label = labels_[static_cast<std::size_t>(row)];
  if (finding.candidates.size() == 1 && label == finding.candidates.front()) return;
  const Nearest nearest = finding.screened
                              ? find_nearest_of(x, centroids_.data(), features_, finding.candidates)
                              : find_nearest(x, centroids_.data(), clusters_, features_);
  if (label == nearest.label) return;
  if (check.wrong++ == 0) check.first_wrong = row;
  double ratio = std::numeric_limits<double>::infinity();
  if (label >= 0 && label < clusters_) {
    const double distance = squared_distance(x, centroids_.data() + label * features_, features_);
    if (distance == nearest.squared_distance) {
      ratio = 1;
    } else if (nearest.squared_distance > 0) {
      ratio = distance / nearest.squared_distance;
    }
  }
  check.worst_ratio = std::max(check.worst_ratio, ratio);
}

// Compares the rows row_at(begin) to row_at(end - 1) of the data set, which are ascending.
template <class T, class RowAt>
LabelCheck LabelEvaluation::compare_range(std::int64_t first, const Matrix& block, RowRange range,
                                          const RowAt& row_at) const {
  constexpr std::int64_t kTile = LabelScreen::kTile;
  LabelCheck check;
  check.samples = range.size();
  LabelScreen::Workspace workspace;
  for (std::int64_t begin = range.begin; begin < range.end; begin += kTile) {
    const std::int64_t count = std::min(kTile, range.end - begin);
    std::array<const T*, kTile> samples;
    for (std::int64_t i = 0; i < count; ++i) {
      samples[static_cast<std::size_t>(i)] = row_of<T>(block, row_at(begin + i) - first);
    }
    if (screen_) screen_->screen(samples.data(), count, workspace);
    for (std::int64_t i = 0; i < count; ++i) {
      judge(row_at(begin + i), samples[static_cast<std::size_t>(i)], workspace.findings[i], check);
    }
  }
  return check;
}

template <class RowAt>
void LabelEvaluation::compare_rows(std::int64_t first, const Matrix& block, std::int64_t count,
                                   const RowAt& row_at) {
  if (!screen_ && count >= kMinScreenedSamples) screen_.emplace(centroids_, features_);
  std::mutex mutex;
  with_type(block, [&](auto type) {
    workers_.for_each_range(count, kComparedRows, [&](std::int64_t begin, std::int64_t end) {
      const LabelCheck check = compare_range<decltype(type)>(first, block, {begin, end}, row_at);
      const std::lock_guard lock(mutex);
      merge_checks(check, check_);
    });
  });
}

void LabelEvaluation::compare(std::int64_t first, const Matrix& block) {
  compare_rows(first, block, block.rows, [first](std::int64_t i) { return first + i; });
}

void LabelEvaluation::compare(std::int64_t first, const Matrix& block,
                              std::span<const std::int64_t>& rows) {
  const auto end = std::lower_bound(rows.begin(), rows.end(), first + block.rows);
  const std::span<const std::int64_t> here(rows.begin(), end);
  compare_rows(first, block, std::ssize(here),
               [here](std::int64_t i) { return here[static_cast<std::size_t>(i)]; });
  rows = rows.subspan(here.size());
}

}  // namespace lloyd
