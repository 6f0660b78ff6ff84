// Runs partial() passes across the plugin boundary and accumulates their results.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/support/trial.hpp"

namespace lloyd::conformance {

__extension__ typedef __int128 Wide;

/// The accumulated results of several passes.
struct Accumulated {
  Accumulated(std::int64_t clusters, std::int64_t features)
      : sums(clusters * features), counts(clusters, 0) {}

  std::vector<SumWords> sums;  ///< k x d
  std::vector<std::int64_t> counts;
  ExactSum inertia;
  std::int64_t changed = 0;
  std::vector<FarSample> farthest;  ///< of all passes; descending distance, then ascending row
  SumForm form = SumForm::integer64;

  /// The means of an update; empty clusters keep their centroids. Integer forms only.
  std::vector<double> means(const Dataset& dataset, const std::vector<double>& kept) const;
};

/// Runs one pass over a range; `labels` holds the labels of all rows and is updated. Keeps the
/// `wanted` farthest samples. Fails the case if partial() fails or writes out of bounds.
void add_partial(Session& session, const std::vector<double>& centroids, RowRange rows,
                 std::int64_t wanted, std::vector<std::int32_t>& labels, Accumulated& accumulated);

/// Passes over the ranges between ascending `cuts`, e.g. {0, 10, n}.
Accumulated run_partials(Session& session, const Samples& samples,
                         const std::vector<double>& centroids,
                         const std::vector<std::int64_t>& cuts, std::int64_t wanted,
                         std::vector<std::int32_t>& labels);

void expect_same_partials(const std::string& where, std::int64_t d, const Accumulated& expected,
                          const Accumulated& got);

/// a + b, wrapped on overflow, since a plugin may return arbitrary words.
Wide wrapped_sum(Wide a, Wide b);
/// The value of a two-word sum.
Wide wide(const SumWords& words);

}  // namespace lloyd::conformance
