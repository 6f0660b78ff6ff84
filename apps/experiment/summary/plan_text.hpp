// A plan as text and as JSON, for `lloyd run --dry-run`.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "experiment/plan/plan.hpp"
#include "text/table.hpp"

namespace lloyd::experiment {

/// Trials, memory, and skipped fits with reasons, in lines of at most `width` columns.
std::string plan_text(const Plan& plan, std::size_t width = kTableWidth);
nlohmann::ordered_json plan_json(const Plan& plan);

}  // namespace lloyd::experiment
