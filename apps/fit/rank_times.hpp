// RankTimes: how the ranks of a fit spent its time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <lloyd/internal/json_fields.hpp>
#include <lloyd/internal/ranks.hpp>
#include <lloyd/internal/timed_communicator.hpp>

namespace lloyd::apps {

/// Times of a fit, aggregated over all ranks. The compute time of a rank is its time outside of
/// collective operations.
struct RankTimes {
  std::vector<std::string> hosts;   ///< host name of each rank
  double max_communication_ms = 0;  ///< longest time of a rank in collective operations
  double mean_communication_ms = 0;
  double communication_share = 0;  ///< of the time of all ranks together, 0 to 1
  double imbalance = 1;            ///< longest compute time of a rank, relative to the mean
};

/// Collective. `mine`: the times of this rank.
RankTimes gather_times(const RankFitTimes& mine, const Ranks& ranks);

/// Sets the keys "hosts", "communication_ms" (with "max" and "mean"), "communication_share" and
/// "imbalance"; to null without `times`.
void add_rank_times(nlohmann::ordered_json& json, const std::optional<RankTimes>& times);
/// Reads these keys; none if "hosts" is missing or null. Throws InputError as JsonFields does.
std::optional<RankTimes> rank_times_from_json(const JsonFields& json);

/// "3.0 % of the fit, at most 1.2 ms on a rank; compute imbalance 1.05".
std::string rank_times_text(const RankTimes& times);

}  // namespace lloyd::apps
