// Rows of a table as CSV.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace lloyd::experiment {

/// Header from the keys of the first row, then one line per row; all rows must have the same keys.
/// Null becomes an empty cell; texts are quoted if necessary; control characters become '?'. Empty
/// if there are no rows.
std::string csv_text(const std::vector<nlohmann::ordered_json>& rows);

}  // namespace lloyd::experiment
