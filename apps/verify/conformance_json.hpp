// Plans and results of the conformance suite as JSON, for output and for exchange between
// processes.
#pragma once

#include <nlohmann/json.hpp>

#include "conformance/conformance.hpp"

namespace lloyd::apps {

nlohmann::ordered_json to_json(const conformance::Result& result);
nlohmann::ordered_json to_json(const conformance::Plan& plan);
/// Both throw nlohmann's exceptions if the document does not match.
conformance::Result result_from_json(const nlohmann::ordered_json& json);
conformance::Plan plan_from_json(const nlohmann::ordered_json& json);

}  // namespace lloyd::apps
