// Until: the rule that ends the rounds of a setting after its repeats.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

namespace lloyd::experiment {

/// After the repeats, rounds continue until each variant has kMinTimingsForInterval timings and
/// half of its interval is at most `relative_error` of its median, or until `max_seconds` have
/// passed since the setting's first trial.
struct Until {
  double relative_error = 0.02;
  double max_seconds = 60;
  bool operator==(const Until&) const = default;
};

/// Returns null, or a JSON object with one key per member.
nlohmann::ordered_json until_json(const std::optional<Until>& until);

}  // namespace lloyd::experiment
