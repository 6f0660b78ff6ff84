#include "json/parameters_json.hpp"

#include <fmt/format.h>

namespace lloyd::apps {

using nlohmann::ordered_json;

namespace {

// Shortest text of the number (1, not 1.0). Hashes of plans depend on it.
ordered_json number_json(double number) {
  const std::string text = fmt::format("{}", number);
  ordered_json json = ordered_json::parse(text, nullptr, false);
  // Infinity: a string, as JSON has no such number.
  return json.is_discarded() ? ordered_json(text) : json;
}

ordered_json value_json(const ParameterInfo& parameter, const ParameterList& values) {
  switch (parameter.type) {
    case ParameterType::number:
      return number_json(values.number(parameter.name));
    case ParameterType::boolean:
      return values.boolean(parameter.name);
    case ParameterType::choice:
      return parameter.choices[values.choice(parameter.name)];
    case ParameterType::integer:
      break;
  }
  return values.integer(parameter.name);
}

}  // namespace

ordered_json parameters_json(std::span<const ParameterInfo> schema, const ParameterList& values) {
  ordered_json json = ordered_json::object();
  for (const ParameterInfo& parameter : schema) {
    json[parameter.name] = value_json(parameter, values);
  }
  return json;
}

ordered_json parameters_json(const ParameterSet& parameters) {
  return parameters_json(parameters.schema(), parameters.list());
}

}  // namespace lloyd::apps
