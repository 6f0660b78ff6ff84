// The summary as a table, as CSV and as JSON.
#include <cmath>

#include <fmt/format.h>

#include "experiment/numbers.hpp"
#include "experiment/summary.hpp"
#include "experiment/table.hpp"
#include "experiment/varying_axes.hpp"

namespace lloyd::experiment {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t kTableWidth = 100;

std::string iterations_text(const SummaryRow& row) {
  return row.fewest_iterations == row.most_iterations
             ? fmt::format("{}", row.most_iterations)
             : fmt::format("{}-{}", row.fewest_iterations, row.most_iterations);
}

std::string speedup_text(const SummaryRow& row) {
  if (row.is_baseline) return "baseline";
  return row.comparison ? row.comparison->text : "";
}

std::string interval_text(const SummaryRow& row) {
  if (row.ok < 2) return "";
  return fmt::format("{} - {}", format_number(row.time_ms.low), format_number(row.time_ms.high));
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  quoted += '"';
  return quoted;
}

std::vector<VaryingAxis> axes_of(const Summary& summary) {
  std::vector<std::vector<AxisValue>> settings;
  for (const SummaryRow& row : summary.rows) settings.push_back(row.axes);
  return varying_axes(settings);
}

// One row under the names that CSV and JSON share.
ordered_json row_json(const std::vector<VaryingAxis>& axes, const Summary& summary,
                      const SummaryRow& row) {
  const std::string unit = summary.per_iteration ? "ms_per_iteration" : "ms_per_fit";
  const bool measured = row.ok > 0;
  const auto number = [&](double value) {
    return measured ? finite_or_null(value) : ordered_json(nullptr);
  };
  const auto count = [&](std::int64_t value) {
    return measured ? ordered_json(value) : ordered_json(nullptr);
  };
  ordered_json json;
  json["setting"] = row.setting;
  for (const VaryingAxis& axis : axes) {
    json[axis.path] = row.axes[axis.index].value;
  }
  json["backend"] = row.backend;
  json["accuracy"] = row.accuracy.empty() ? ordered_json(nullptr) : ordered_json(row.accuracy);
  json["trials"] = row.ok;
  json[unit] = number(row.time_ms.median);
  json[unit + "_low"] = number(row.time_ms.low);
  json[unit + "_high"] = number(row.time_ms.high);
  json["fewest_iterations"] = count(row.fewest_iterations);
  json["most_iterations"] = count(row.most_iterations);
  json["inertia"] = number(row.quality.final_inertia);
  json["inertia_after_one"] = number(row.quality.inertia_after_one);
  json["wrong_labels"] = count(row.quality.wrong_labels);
  if (!summary.baseline.empty()) {
    const bool said = row.comparison && row.comparison->speedup;
    json["speedup"] = said ? ordered_json(*row.comparison->speedup) : ordered_json(nullptr);
    json["comparison"] = speedup_text(row);
  }
  json["problem"] = row.problem;
  return json;
}

}  // namespace

std::string summary_table(const Summary& summary) {
  const std::vector<VaryingAxis> axes = axes_of(summary);
  std::vector<Table::Column> columns;
  columns.reserve(axes.size() + 6);
  for (const VaryingAxis& axis : axes) columns.push_back({axis.header, true});
  columns.push_back({"backend", false});
  columns.push_back({summary.per_iteration ? "ms/iteration" : "ms/fit", true});
  columns.push_back({"interval", true});
  columns.push_back({"iterations", true});
  columns.push_back({"inertia", true});
  if (!summary.baseline.empty()) columns.push_back({"speedup", false});

  Table table(std::move(columns), kTableWidth);
  for (const SummaryRow& row : summary.rows) {
    std::vector<std::string> cells;
    cells.reserve(axes.size() + 6);
    for (const VaryingAxis& axis : axes) {
      cells.push_back(row.axes[axis.index].value);
    }
    cells.push_back(row.backend);
    if (!row.problem.empty()) {
      table.add(std::move(cells), row.problem);
      continue;
    }
    cells.push_back(format_number(row.time_ms.median));
    cells.push_back(interval_text(row));
    cells.push_back(iterations_text(row));
    cells.push_back(fmt::format("{:.5g}", row.quality.final_inertia));
    if (!summary.baseline.empty()) cells.push_back(speedup_text(row));
    table.add(std::move(cells));
  }
  const char* meaning = summary.repeats < 6 ? "their range" : "where the true median is, with 95 %";
  return table.str() + fmt::format("{}: median of {}; interval: {}\n",
                                   summary.per_iteration ? "ms/iteration" : "ms/fit",
                                   format_count(summary.repeats, "repeat"), meaning);
}

std::string summary_csv(const Summary& summary) {
  const std::vector<VaryingAxis> axes = axes_of(summary);
  std::string csv;
  for (const SummaryRow& row : summary.rows) {
    const ordered_json json = row_json(axes, summary, row);
    std::string header;
    std::string line;
    for (const auto& [key, value] : json.items()) {
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

ordered_json summary_json(const Summary& summary, const std::filesystem::path& output) {
  const std::vector<VaryingAxis> axes = axes_of(summary);
  ordered_json rows = ordered_json::array();
  for (const SummaryRow& row : summary.rows) {
    rows.push_back(row_json(axes, summary, row));
  }
  ordered_json json;
  json["experiment"] = summary.experiment;
  json["output"] = output.string();
  json["baseline"] =
      summary.baseline.empty() ? ordered_json(nullptr) : ordered_json(summary.baseline);
  json["rows"] = rows;
  return json;
}

}  // namespace lloyd::experiment
