// Suggests a number of clusters from the criteria of fits with several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <lloyd/criteria.hpp>

namespace lloyd::apps {

/// One k and the criteria of its fit.
struct CriteriaOfK {
  std::int64_t clusters = 0;  ///< k as requested; the fit may have fewer clusters with samples
  ClusterCriteria criteria;
};

struct ClusterSuggestion {
  std::optional<std::size_t> index;  ///< no value if no criterion is defined for any k
  std::string reason;                ///< a clause, without a full stop
};

/// Each criterion votes for its best k, the smallest if several are equally good. The k with at
/// least two of the three votes is suggested, otherwise the one with the best simplified
/// silhouette. `tried` is ascending in k.
ClusterSuggestion suggest_clusters(std::span<const CriteriaOfK> tried);

/// The indices into `tried` that are best by at least one criterion, ascending: suggest_clusters()
/// suggests one of them.
std::vector<std::size_t> best_by_any_criterion(std::span<const CriteriaOfK> tried);

}  // namespace lloyd::apps
