// partial() passes across the boundary, and what they accumulate.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/trial.hpp"

namespace lloyd::conformance {

__extension__ typedef __int128 Wide;

/// What passes over ranges add up to.
struct Accumulated {
  Accumulated(std::int64_t clusters, std::int64_t features)
      : sums(clusters * features), counts(clusters, 0) {}

  std::vector<SumWords> sums;  ///< k x d
  std::vector<std::int64_t> counts;
  ExactSum inertia;
  std::int64_t changed = 0;
  std::vector<FarSample> farthest;  ///< of all passes, by descending distance, then row
  SumForm form = SumForm::integer64;

  /// Means as an update makes them; the centroids of empty clusters are kept. Integer forms only.
  std::vector<double> means(const Dataset& dataset, const std::vector<double>& kept) const;
};

/// One pass over a range: `labels` are those of all rows, in and out. Keeps the `wanted` farthest.
/// Fails the case where partial() fails or writes out of bounds.
void add_partial(Session& session, const std::vector<double>& centroids, RowRange rows,
                 std::int64_t wanted, std::vector<std::int32_t>& labels, Accumulated& accumulated);

/// Passes over all the ranges between ascending `cuts`, e.g. {0, 10, n}.
Accumulated run_partials(Session& session, const Samples& samples,
                         const std::vector<double>& centroids,
                         const std::vector<std::int64_t>& cuts, std::int64_t wanted,
                         std::vector<std::int32_t>& labels);

void expect_same_partials(const std::string& where, std::int64_t d, const Accumulated& expected,
                          const Accumulated& got);

/// a + b, wrapped around where that overflows, as words that a plugin wrote can.
Wide wrapped_sum(Wide a, Wide b);
/// The value of a two-word sum.
Wide wide(const SumWords& words);

}  // namespace lloyd::conformance
