// Until: how long a setting goes on after its repeats.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

namespace lloyd::experiment {

/// Further rounds are made until each variant has kMinTimingsForInterval timings and half of its
/// interval is at most `relative_error` of its median, or `max_seconds` have passed since the
/// setting's first trial.
struct Until {
  double relative_error = 0.02;
  double max_seconds = 60;
  bool operator==(const Until&) const = default;
};

/// Null, or an object of its members.
nlohmann::ordered_json until_json(const std::optional<Until>& until);

}  // namespace lloyd::experiment
