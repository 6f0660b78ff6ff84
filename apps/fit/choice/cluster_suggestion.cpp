#include "fit/choice/cluster_suggestion.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lloyd::apps {
namespace {

struct Criterion {
  const char* name;
  double ClusterCriteria::*value;
  bool higher_is_better;
};

// The first one decides if no two agree.
constexpr std::array<Criterion, 3> kCriteria = {
    {{"the simplified silhouette", &ClusterCriteria::silhouette, true},
     {"Calinski-Harabasz", &ClusterCriteria::calinski_harabasz, true},
     {"Davies-Bouldin", &ClusterCriteria::davies_bouldin, false}}};

std::optional<std::size_t> best_index(std::span<const CriteriaOfK> tried,
                                      const Criterion& criterion) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    const double value = tried[i].criteria.*criterion.value;
    if (std::isnan(value)) continue;
    if (!best) {
      best = i;
      continue;
    }
    const double record = tried[*best].criteria.*criterion.value;
    if (criterion.higher_is_better ? value > record : value < record) best = i;
  }
  return best;
}

std::string reason_for(std::span<const CriteriaOfK> tried, std::size_t suggested,
                       const std::array<std::optional<std::size_t>, 3>& votes) {
  std::vector<std::string> agreeing;
  std::string others;
  for (std::size_t c = 0; c < kCriteria.size(); ++c) {
    if (!votes[c]) continue;
    if (*votes[c] == suggested) {
      agreeing.emplace_back(kCriteria[c].name);
    } else {
      others += fmt::format("{} {} is best at {}", others.empty() ? ";" : ",", kCriteria[c].name,
                            tried[*votes[c]].clusters);
    }
  }
  std::string reason = "best by ";
  for (std::size_t i = 0; i < agreeing.size(); ++i) {
    if (i > 0) reason += i + 1 == agreeing.size() ? " and " : ", ";
    reason += agreeing[i];
  }
  if (agreeing.size() == 1 && !others.empty()) reason += ", as no two criteria agree";
  reason += others;
  if (suggested + 1 == tried.size() && tried.size() > 1) {
    reason += "; it is the largest k of the range, so a larger one may be better";
  }
  return reason;
}

}  // namespace

ClusterSuggestion suggest_clusters(std::span<const CriteriaOfK> tried) {
  std::array<std::optional<std::size_t>, 3> votes;
  for (std::size_t c = 0; c < kCriteria.size(); ++c) votes[c] = best_index(tried, kCriteria[c]);
  std::optional<std::size_t> suggested;
  for (const auto& vote : votes) {
    const auto agreeing = std::count(votes.begin(), votes.end(), vote);
    if (vote && (!suggested || (agreeing > 1 && vote != suggested &&
                                std::count(votes.begin(), votes.end(), suggested) == 1))) {
      suggested = vote;
    }
  }
  if (!suggested) return {std::nullopt, "no criterion is defined for these numbers of clusters"};
  return {suggested, reason_for(tried, *suggested, votes)};
}

std::vector<std::size_t> best_by_any_criterion(std::span<const CriteriaOfK> tried) {
  std::vector<std::size_t> best;
  for (const Criterion& criterion : kCriteria) {
    if (const auto index = best_index(tried, criterion)) best.push_back(*index);
  }
  std::sort(best.begin(), best.end());
  best.erase(std::unique(best.begin(), best.end()), best.end());
  return best;
}

}  // namespace lloyd::apps
