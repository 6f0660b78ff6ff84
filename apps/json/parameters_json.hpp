// Parameters of a backend as JSON.
#pragma once

#include <span>

#include <nlohmann/json.hpp>

#include <lloyd/parameter_set.hpp>

namespace lloyd::apps {

/// {"threads": 2, "layout": "soa"}: all parameters, in the schema's order. `schema` must have the
/// struct layout of this program's headers. Throws StatusError if `values` lacks a parameter.
nlohmann::ordered_json parameters_json(std::span<const ParameterInfo> schema,
                                       const ParameterList& values);
nlohmann::ordered_json parameters_json(const ParameterSet& parameters);

}  // namespace lloyd::apps
