// Rules shared by all loops, applied between two assignments: relocation, means, stop rules.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <lloyd/plugin/abi/requests.hpp>
#include <lloyd/plugin/abi/status.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

namespace lloyd {

/// A sample that moves from its cluster to an empty one.
struct Relocation {
  FarSample sample;     ///< its label is the cluster that it leaves
  std::int32_t to = 0;  ///< the cluster that it goes to
};

/// The empty clusters, ascending.
inline std::vector<std::int32_t> find_empty_clusters(const ClusterSums& sums) {
  std::vector<std::int32_t> empty;
  for (std::int64_t c = 0; c < sums.clusters(); ++c) {
    if (sums.count(c) == 0) empty.push_back(static_cast<std::int32_t>(c));
  }
  return empty;
}

/// Assigns to the empty clusters, in order, the farthest samples that are not the last of their own
/// cluster. `farthest` is sorted by descending distance, then row; k entries suffice: one is taken
/// per empty cluster, and at most one is skipped per other cluster, as its last sample. If they run
/// out, the remaining clusters stay empty.
inline std::vector<Relocation> choose_relocations(const std::vector<std::int32_t>& empty,
                                                  const std::vector<FarSample>& farthest,
                                                  const ClusterSums& sums) {
  std::vector<std::int64_t> counts;
  for (std::int64_t c = 0; c < sums.clusters(); ++c) counts.push_back(sums.count(c));
  std::vector<Relocation> relocations;
  for (const FarSample& sample : farthest) {
    if (relocations.size() == empty.size()) break;
    auto& donor_count = counts[static_cast<std::size_t>(sample.label)];
    if (donor_count < 2) continue;
    --donor_count;
    relocations.push_back({sample, empty[relocations.size()]});
  }
  return relocations;
}

/// Throws StatusCode::empty_cluster, for a fit under EmptyClusters::error.
[[noreturn]] inline void throw_empty_cluster(std::int32_t cluster, std::int64_t iteration) {
  throw StatusError(StatusCode::empty_cluster,
                    "cluster " + std::to_string(cluster) + " became empty in iteration " +
                        std::to_string(iteration) + ", and the policy is 'error'");
}

/// Writes the mean of each cluster to `to`; an empty cluster keeps its centroid of `from`. Both are
/// k x d and must not be the same vector.
inline void move_to_means(ClusterSums& sums, std::int64_t features, const std::vector<double>& from,
                          std::vector<double>& to) {
  for (std::int64_t c = 0; c < sums.clusters(); ++c) {
    double* const centroid = to.data() + c * features;
    if (sums.count(c) > 0) {
      sums.mean(c, centroid);
    } else {
      std::copy_n(from.data() + c * features, features, centroid);
    }
  }
}

/// Number of partial sums in squared_shift(), enough to keep a device busy.
inline constexpr int kShiftPartialSums = 1024;

/// Sum of squared shifts from one set of centroids to the next, in an order that suits many
/// threads: partial sum i adds up every kShiftPartialSums-th value from value i on; a pairwise
/// reduction follows.
inline double squared_shift(const std::vector<double>& from, const std::vector<double>& to) {
  double partial_sums[kShiftPartialSums];
  // Unused partial sums are 0, so the levels of the reduction that only add zeros are skipped.
  const std::size_t used =
      std::bit_ceil(std::clamp<std::size_t>(from.size(), 1, kShiftPartialSums));
  std::fill_n(partial_sums, used, 0.0);
  for (std::size_t begin = 0; begin < from.size(); begin += kShiftPartialSums) {
    const std::size_t count = std::min<std::size_t>(from.size() - begin, kShiftPartialSums);
    for (std::size_t i = 0; i < count; ++i) {
      const double move = to[begin + i] - from[begin + i];
      partial_sums[i] += move * move;
    }
  }
  for (std::size_t half = used / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) partial_sums[i] += partial_sums[i + half];
  }
  return partial_sums[0];
}

/// True if the observer or stop_reason() uses IterationRecord::shift.
inline bool needs_shift(const FitSpec& spec) {
  return spec.observe != 0 || (spec.stop_rule == StopRule::converge && spec.tolerance > 0);
}

/// The reason why the fit stops after this iteration, or StopReason::none. Uses the record's
/// `iteration`, `changed`, `relocations` and `shift`.
inline StopReason stop_reason(const FitSpec& spec, const IterationRecord& record) {
  if (spec.stop_rule == StopRule::converge && record.relocations == 0) {
    if (record.changed == 0) return StopReason::labels;
    if (spec.tolerance > 0 && record.shift <= spec.tolerance) return StopReason::tolerance;
  }
  return record.iteration >= spec.max_iterations ? StopReason::max_iterations : StopReason::none;
}

}  // namespace lloyd
