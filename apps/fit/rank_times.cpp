#include "fit/rank_times.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "text/numbers.hpp"

namespace lloyd::apps {
namespace {

struct RankRow {
  HostName host;
  RankFitTimes times;
};

}  // namespace

RankTimes gather_times(const RankFitTimes& mine, const Ranks& ranks) {
  RankTimes all;
  double ms = 0;
  double communication_ms = 0;
  double max_compute_ms = 0;
  for (const RankRow& row : ranks.gather(RankRow{host_name(), mine})) {
    all.hosts.emplace_back(row.host.data());
    all.max_communication_ms = std::max(all.max_communication_ms, row.times.communication_ms);
    max_compute_ms = std::max(max_compute_ms, row.times.ms - row.times.communication_ms);
    ms += row.times.ms;
    communication_ms += row.times.communication_ms;
  }
  const auto size = static_cast<double>(ranks.size());
  all.mean_communication_ms = communication_ms / size;
  if (ms > 0) all.communication_share = communication_ms / ms;
  const double mean_compute_ms = (ms - communication_ms) / size;
  if (mean_compute_ms > 0) all.imbalance = std::max(max_compute_ms / mean_compute_ms, 1.0);
  return all;
}

void add_rank_times(nlohmann::ordered_json& json, const std::optional<RankTimes>& times) {
  for (const char* key : {"hosts", "communication_ms", "communication_share", "imbalance"}) {
    json[key] = nullptr;
  }
  if (!times) return;
  json["hosts"] = times->hosts;
  json["communication_ms"] = {{"max", times->max_communication_ms},
                              {"mean", times->mean_communication_ms}};
  json["communication_share"] = times->communication_share;
  json["imbalance"] = times->imbalance;
}

std::optional<RankTimes> rank_times_from_json(const JsonFields& json) {
  if (!json.has("hosts")) return std::nullopt;
  RankTimes times;
  times.hosts = json.texts("hosts");
  const JsonFields communication = json.object("communication_ms");
  times.max_communication_ms = communication.number("max", 0);
  times.mean_communication_ms = communication.number("mean", 0);
  times.communication_share = json.number("communication_share", 0);
  times.imbalance = json.number("imbalance", 1);
  return times;
}

std::string rank_times_text(const RankTimes& times) {
  return fmt::format("{:.1f} % of the fit, at most {} on a rank; compute imbalance {:.2f}",
                     100 * times.communication_share,
                     experiment::format_ms(times.max_communication_ms), times.imbalance);
}

}  // namespace lloyd::apps
