#include "text/csv_text.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

#include <lloyd/internal/status_text.hpp>

namespace lloyd::experiment {
namespace {

// Spreadsheets evaluate a text that begins with one of these characters as a formula; a leading
// apostrophe prevents that.
bool begins_formula(std::string_view text) {
  if (text.empty() || std::string_view("=+-@").find(text.front()) == std::string_view::npos) {
    return false;
  }
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + (text.front() == '+'), end, value);
  return stop != end || error != std::errc{};
}

std::string csv_cell(std::string_view unclean) {
  std::string text = printable(unclean);
  if (begins_formula(text)) text.insert(0, 1, '\'');
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
