// Passes the options of a fit and the parameters of a backend to another process.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <lloyd/fit.hpp>
#include <lloyd/internal/json_fields.hpp>

namespace lloyd::experiment {

/// Sets the keys of all options except `seeding` and `observe`.
void write_options(const FitOptions& options, nlohmann::ordered_json& json);
/// Throws InputError as JsonFields does.
FitOptions read_options(const JsonFields& json);

/// The members of an object of texts. Throws InputError as JsonFields does.
std::map<std::string, std::string> read_texts(const JsonFields& json, std::string_view key);

}  // namespace lloyd::experiment
