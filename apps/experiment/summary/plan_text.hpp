// A plan as text and as JSON, for `lloyd run --dry-run`.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "experiment/plan/plan.hpp"

namespace lloyd::experiment {

/// Trials, memory, and skipped fits with reasons, in lines of at most 100 columns.
std::string plan_text(const Plan& plan);
nlohmann::ordered_json plan_json(const Plan& plan);

}  // namespace lloyd::experiment
