// A history as tables, CSV and JSON.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "experiment/history/history.hpp"
#include "experiment/statistics/change_points.hpp"
#include "json/json_or_null.hpp"
#include "text/csv_text.hpp"
#include "text/numbers.hpp"
#include "text/table.hpp"

namespace lloyd::experiment {

using apps::finite_or_null;
using apps::text_or_null;
using nlohmann::ordered_json;

namespace {

std::string short_commit(const HistoryRun& run) {
  constexpr std::size_t kDigits = 10;
  return run.commit.substr(0, kDigits);
}

// The number of a run in the table of runs, from 1, with its commit.
std::string run_text(const History& history, std::size_t run) {
  const std::string commit = short_commit(history.runs[run]);
  return commit.empty() ? fmt::format("run {}", run + 1)
                        : fmt::format("run {} ({})", run + 1, commit);
}

std::string percent_text(double after, double before) {
  return fmt::format("{:+.1f}%", 100 * (after / before - 1));
}

std::string changes_text(const History& history, const HistoryRow& row) {
  if (row.points.size() < kMinRunsForChange) return "too few runs";
  std::string text;
  for (const HistoryChange& change : row.changes) {
    text += fmt::format("{}{}: {} -> {} ms, {}", text.empty() ? "" : "; ",
                        run_text(history, change.run), format_number(change.before_ms),
                        format_number(change.after_ms),
                        percent_text(change.after_ms, change.before_ms));
  }
  return text.empty() ? "none" : text;
}

Table table_of_runs(const History& history) {
  Table table({{"run", true}, {"time", false}, {"commit", false}, {"records", false}});
  for (std::size_t r = 0; r < history.runs.size(); ++r) {
    const HistoryRun& run = history.runs[r];
    table.add({fmt::format("{}", r + 1), run.time, short_commit(run),
               fmt::format("{}, {}", run.file.string(), run.id)});
  }
  return table;
}

// True if rows are named by the facts of their settings, as no axes tell them apart.
bool by_facts(const History& history) {
  return history.axes.empty() && history.rows.size() > 1;
}

std::vector<SettingFacts> settings_of(const History& history) {
  std::vector<SettingFacts> settings;
  for (const HistoryRow& row : history.rows) settings.push_back(row.facts);
  return settings;
}

// The settings whose values differ between rows; see common_settings_text() for the others.
std::vector<SettingDefault> differing_settings(const History& history) {
  std::vector<SettingDefault> differing = defaults_of(settings_of(history));
  std::erase_if(differing, [&](const SettingDefault& setting_default) {
    return std::all_of(history.rows.begin(), history.rows.end(), [&](const HistoryRow& row) {
      return value_of(row.facts, setting_default) ==
             value_of(history.rows.front().facts, setting_default);
    });
  });
  return differing;
}

// "all settings: restarts = 5": the settings that all rows have in common and that are not
// defaults; may be empty.
std::string common_settings_text(const History& history) {
  const std::vector<SettingDefault> differing = differing_settings(history);
  std::string text;
  for (const SettingDefault& setting_default : defaults_of(settings_of(history))) {
    const bool differs = std::any_of(differing.begin(), differing.end(), [&](const auto& other) {
      return other.path == setting_default.path;
    });
    if (differs) continue;
    text += fmt::format("{}{} = {}", text.empty() ? "all settings: " : "; ",
                        setting_key_text(setting_default.path),
                        setting_value_text(value_of(history.rows.front().facts, setting_default)));
  }
  return text;
}

// The facts of a setting, with its hash if another setting has the same ones.
std::string setting_name(const History& history, const HistoryRow& row) {
  const bool unique =
      std::none_of(history.rows.begin(), history.rows.end(), [&](const HistoryRow& other) {
        return other.setting != row.setting && other.facts == row.facts;
      });
  const std::string text = facts_text(row.facts, differing_settings(history));
  return unique ? text : fmt::format("{} ({})", text, row.setting);
}

Table table_of_rows(const History& history) {
  std::vector<Table::Column> columns;
  for (const VaryingAxis& axis : history.axes) columns.push_back({axis.header, true});
  if (by_facts(history)) columns.push_back({"setting", false});
  columns.push_back({"backend", false});
  for (const char* header : {"runs", "first ms", "last ms", "last/first"}) {
    columns.push_back({header, true});
  }
  columns.push_back({"changes", false});
  Table table(std::move(columns));
  for (const HistoryRow& row : history.rows) {
    std::vector<std::string> cells;
    for (const VaryingAxis& axis : history.axes)
      cells.push_back(axis.text(row.axes[axis.index].value));
    if (by_facts(history)) cells.push_back(setting_name(history, row));
    const double first = row.points.front().time_ms.median;
    const double last = row.points.back().time_ms.median;
    cells.push_back(row.by_fits ? row.backend + " *" : row.backend);
    cells.push_back(fmt::format("{}", row.points.size()));
    cells.push_back(format_number(first));
    cells.push_back(format_number(last));
    cells.push_back(percent_text(last, first));
    cells.push_back(changes_text(history, row));
    table.add(std::move(cells));
  }
  return table;
}

std::vector<std::string> notes_of(const History& history) {
  std::vector<std::string> notes = {fmt::format(
      "ms: median of a run, per {}; changes: the run with which a new level of the medians begins, "
      "and the medians of both levels; a row needs {} runs",
      history.per_iteration ? "iteration" : "fit", kMinRunsForChange)};
  if (std::any_of(history.rows.begin(), history.rows.end(),
                  [](const HistoryRow& row) { return row.by_fits; })) {
    notes.emplace_back("* evaluates fewer distances than samples x clusters: ms per fit");
  }
  if (!by_facts(history)) {
    for (std::string& line : facts_lines(settings_of(history))) notes.push_back(std::move(line));
  } else if (std::string common = common_settings_text(history); !common.empty()) {
    notes.push_back(std::move(common));
  }
  for (std::size_t r = 1; r < history.runs.size(); ++r) {
    if (history.runs[r].time >= history.runs[r - 1].time) continue;
    notes.push_back(fmt::format(
        "run {} is older than run {}: the runs are in the order in which they were given; "
        "--by-time sorts them",
        r + 1, r));
    break;
  }
  for (std::size_t r = 1; r < history.runs.size(); ++r) {
    const std::string& before = history.runs[r - 1].cpu;
    const std::string& now = history.runs[r].cpu;
    if (before == now) continue;
    notes.push_back(fmt::format("run {} used another processor ({}) than the run before ({})",
                                r + 1, now.empty() ? "unknown" : now,
                                before.empty() ? "unknown" : before));
  }
  return notes;
}

// `defaults`: the settings that any row changes, see defaults_of().
ordered_json facts_json(const SettingFacts& facts, const std::vector<SettingDefault>& defaults) {
  ordered_json json = {{"dataset", facts.dataset},
                       {"samples", facts.samples},
                       {"features", facts.features},
                       {"clusters", facts.clusters},
                       {"seed", facts.seed ? ordered_json(*facts.seed) : ordered_json(nullptr)}};
  for (const SettingDefault& setting_default : defaults)
    json[setting_default.path] = value_of(facts, setting_default);
  return json;
}

bool begins_level(const HistoryRow& row, std::size_t run) {
  return std::any_of(row.changes.begin(), row.changes.end(),
                     [run](const HistoryChange& change) { return change.run == run; });
}

const char* unit_of(const History& history, const HistoryRow& row) {
  return history.per_iteration && !row.by_fits ? "iteration" : "fit";
}

}  // namespace

std::string history_text(const History& history, std::size_t width) {
  std::string text = table_of_runs(history).str(width) + '\n' + table_of_rows(history).str(width);
  for (const std::string& note : notes_of(history)) text += wrapped(note, width);
  return text;
}

std::string history_markdown(const History& history) {
  std::string text =
      table_of_runs(history).markdown() + '\n' + table_of_rows(history).markdown() + '\n';
  for (const std::string& note : notes_of(history)) {
    text += fmt::format("- {}\n", escape_markdown(note));
  }
  return text;
}

std::string history_csv(const History& history) {
  const std::vector<SettingDefault> defaults = defaults_of(settings_of(history));
  std::vector<ordered_json> lines;
  for (const HistoryRow& row : history.rows) {
    const ordered_json facts = facts_json(row.facts, defaults);
    for (const HistoryPoint& point : row.points) {
      const HistoryRun& run = history.runs[point.run];
      ordered_json line = {{"setting", row.setting}};
      for (const VaryingAxis& axis : history.axes) line[axis.path] = row.axes[axis.index].value;
      for (const auto& [key, value] : facts.items()) {
        if (!line.contains(key)) line[key] = value;  // unless it is an axis
      }
      line["backend"] = row.backend;
      line["run"] = run.id;
      line["time"] = run.time;
      line["commit"] = text_or_null(run.commit);
      line["per"] = unit_of(history, row);
      line["ms"] = finite_or_null(point.time_ms.median);
      line["ms_low"] = finite_or_null(point.time_ms.low);
      line["ms_high"] = finite_or_null(point.time_ms.high);
      line["begins_level"] = begins_level(row, point.run);
      lines.push_back(std::move(line));
    }
  }
  return csv_text(lines);
}

ordered_json history_json(const History& history) {
  ordered_json runs = ordered_json::array();
  for (const HistoryRun& run : history.runs) {
    runs.push_back({{"file", run.file.string()},
                    {"run", run.id},
                    {"time", run.time},
                    {"commit", text_or_null(run.commit)},
                    {"cpu", text_or_null(run.cpu)}});
  }
  const std::vector<SettingDefault> defaults = defaults_of(settings_of(history));
  ordered_json rows = ordered_json::array();
  for (const HistoryRow& row : history.rows) {
    ordered_json axes = ordered_json::object();
    for (const AxisValue& axis : row.axes) axes[axis.path] = axis.value;
    ordered_json points = ordered_json::array();
    for (const HistoryPoint& point : row.points) {
      points.push_back({{"run", point.run},
                        {"ms", finite_or_null(point.time_ms.median)},
                        {"ms_low", finite_or_null(point.time_ms.low)},
                        {"ms_high", finite_or_null(point.time_ms.high)}});
    }
    ordered_json changes = ordered_json::array();
    for (const HistoryChange& change : row.changes) {
      changes.push_back(
          {{"run", change.run}, {"before_ms", change.before_ms}, {"after_ms", change.after_ms}});
    }
    rows.push_back({{"setting", row.setting},
                    {"axes", axes},
                    {"facts", facts_json(row.facts, defaults)},
                    {"backend", row.backend},
                    {"per", unit_of(history, row)},
                    {"points", points},
                    {"changes", changes}});
  }
  return {{"runs", runs}, {"rows", rows}};
}

}  // namespace lloyd::experiment
