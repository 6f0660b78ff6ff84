// A plan for people and programs: what `lloyd run --dry-run` prints.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "experiment/plan/plan.hpp"

namespace lloyd::experiment {

/// Trials, memory, what will be skipped and why; lines of at most 100 columns.
std::string plan_text(const Plan& plan);
nlohmann::ordered_json plan_json(const Plan& plan);

}  // namespace lloyd::experiment
