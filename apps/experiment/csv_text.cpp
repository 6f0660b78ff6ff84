#include "experiment/csv_text.hpp"

#include <string_view>

#include <lloyd/status_text.hpp>

namespace lloyd::experiment {
namespace {

std::string csv_cell(std::string_view unclean) {
  const std::string text = printable(unclean);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  quoted += '"';
  return quoted;
}

}  // namespace

std::string csv_text(const std::vector<nlohmann::ordered_json>& rows) {
  std::string csv;
  for (const nlohmann::ordered_json& row : rows) {
    std::string header;
    std::string line;
    for (const auto& [key, value] : row.items()) {
      if (!header.empty()) header += ',';
      header += csv_cell(key);
      if (!line.empty()) line += ',';
      if (!value.is_null()) {
        line += csv_cell(value.is_string() ? value.get<std::string>() : value.dump());
      }
    }
    if (csv.empty()) csv = header + '\n';
    csv += line + '\n';
  }
  return csv;
}

}  // namespace lloyd::experiment
