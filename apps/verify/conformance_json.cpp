#include "verify/conformance_json.hpp"

#include <string>

namespace lloyd::apps {

using conformance::Outcome;
using nlohmann::ordered_json;

ordered_json to_json(const conformance::Result& result) {
  ordered_json json = {{"name", result.name},
                       {"outcome", conformance::to_string(result.outcome)},
                       {"elapsed_ms", result.elapsed_ms}};
  if (!result.message.empty()) json["message"] = result.message;
  return json;
}

ordered_json to_json(const conformance::Plan& plan) {
  ordered_json json = {{"unavailable", plan.unavailable}, {"cases", ordered_json::array()}};
  for (const conformance::PlannedCase& one : plan.cases) {
    json["cases"].push_back(
        {{"case", one.case_name}, {"name", one.name}, {"essential", one.essential}});
  }
  return json;
}

conformance::Result result_from_json(const ordered_json& json) {
  conformance::Result result;
  result.name = json.at("name").get<std::string>();
  result.message = json.value("message", "");
  result.elapsed_ms = json.at("elapsed_ms").get<double>();
  const auto outcome = json.at("outcome").get<std::string>();
  result.outcome = Outcome::failed;
  for (const Outcome known : {Outcome::passed, Outcome::skipped}) {
    if (outcome == conformance::to_string(known)) result.outcome = known;
  }
  return result;
}

conformance::Plan plan_from_json(const ordered_json& json) {
  conformance::Plan plan;
  plan.unavailable = json.at("unavailable").get<std::string>();
  for (const ordered_json& one : json.at("cases")) {
    plan.cases.push_back({one.at("case").get<std::string>(), one.at("name").get<std::string>(),
                          one.at("essential").get<bool>()});
  }
  return plan;
}

}  // namespace lloyd::apps
