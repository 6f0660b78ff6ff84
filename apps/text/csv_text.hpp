// Rows of a table as CSV.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace lloyd::experiment {

/// A header of the first row's keys, then a line a row; all rows have the same keys. Null is an
/// empty cell, a text is quoted where it must be; control characters become '?'. Empty for no rows.
std::string csv_text(const std::vector<nlohmann::ordered_json>& rows);

}  // namespace lloyd::experiment
