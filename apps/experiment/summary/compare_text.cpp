// A comparison as plain and Markdown tables.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <lloyd/internal/shown.hpp>

#include "experiment/summary/compare.hpp"
#include "text/numbers.hpp"
#include "text/table.hpp"

namespace lloyd::experiment {
namespace {

struct Cells {
  std::vector<Table::Column> columns;
  std::vector<std::vector<std::string>> rows;
};

// Returns "0", or the relative difference of two inertias.
std::string difference_text(double newer, double older) {
  if (newer == older) return "0";
  const double difference = newer / older - 1;
  return std::isfinite(difference) ? fmt::format("{:+.1e}", difference) : "-";
}

std::string verdict_text(const TimeRatio& time) {
  std::string text(to_string(time.verdict));
  if (!time.reason.empty()) text += fmt::format(": {}", time.reason);
  return text;
}

// The median; marked if it is per iteration with fewer distances evaluated.
std::string time_text(const RunComparison& comparison, const SummaryRow& row) {
  const bool marked = comparison.per_iteration && row.fewer_distances;
  return format_number(row.time_ms.median) + (marked ? "*" : "");
}

std::string backend_text(const RunComparison& comparison, const ComparedRow& row) {
  if (!comparison.paired) return row.newer.backend;
  return fmt::format("{} against {}", row.newer.backend, row.older.backend);
}

Cells cells_of(const RunComparison& comparison) {
  Cells cells;
  for (const VaryingAxis& axis : comparison.axes) cells.columns.push_back({axis.header, true});
  // A single pair of variants is named above the table.
  if (!comparison.paired) cells.columns.push_back({"backend", false});
  for (const char* header : {"old ms", "new ms", "new/old", "inertia", "after 1"}) {
    cells.columns.push_back({header, true});
  }
  const bool accuracy =
      std::any_of(comparison.rows.begin(), comparison.rows.end(),
                  [](const ComparedRow& row) { return row.older.accuracy != row.newer.accuracy; });
  if (accuracy) cells.columns.push_back({"accuracy", false});
  cells.columns.push_back({"verdict", false});
  for (const ComparedRow& row : comparison.rows) {
    std::vector<std::string>& line = cells.rows.emplace_back();
    for (const VaryingAxis& axis : comparison.axes) {
      line.push_back(axis.text(row.older.axes[axis.index].value));
    }
    if (!comparison.paired) line.push_back(row.newer.backend);
    line.push_back(time_text(comparison, row.older));
    line.push_back(time_text(comparison, row.newer));
    line.push_back(ratio_text(row.time.ratio));
    const Quality& older = row.older.quality;
    const Quality& newer = row.newer.quality;
    line.push_back(difference_text(newer.final_inertia, older.final_inertia));
    line.push_back(difference_text(newer.inertia_after_one, older.inertia_after_one));
    if (accuracy) {
      line.push_back(fmt::format("{}, was {}", row.newer.accuracy, row.older.accuracy));
    }
    line.push_back(verdict_text(row.time));
  }
  return cells;
}

// Follows median_interval() in bootstrap.hpp.
constexpr const char* kIntervalText = "95 %, of fewer than 6 rounds the range; below 1: faster";
static_assert(kMinTimingsForInterval == 6);

std::vector<std::string> notes_of(const RunComparison& comparison) {
  std::vector<std::string> notes;
  for (const ComparedMean& mean : comparison.means) {
    notes.push_back(fmt::format("geometric mean of {}, {}: {} {}", mean.backend,
                                format_count(mean.settings, "setting"), ratio_text(mean.ratio),
                                to_string(mean.verdict)));
  }
  const char* unit = comparison.per_iteration ? "iteration" : "fit";
  notes.push_back(
      comparison.paired
          ? fmt::format(
                "ms: per {0}; new/old: median of the ratios of rounds with its interval: {1}", unit,
                kIntervalText)
          : fmt::format("ms: per {0}; new/old: ratio of the medians with its interval: {1}", unit,
                        kIntervalText));
  if (std::any_of(comparison.rows.begin(), comparison.rows.end(),
                  [](const ComparedRow& row) { return row.by_fits; })) {
    notes.push_back(
        "* evaluates fewer distances than samples x clusters in an iteration: new/old is of whole "
        "fits there");
  }
  notes.push_back("inertia, after 1: relative differences, at the end and after one iteration");
  notes.insert(notes.end(), comparison.warnings.begin(), comparison.warnings.end());
  constexpr std::size_t kMaxRowBytes = 1000;  // reasons and labels have no maximum length
  const auto add = [&](const char* what, const std::vector<std::string>& rows) {
    for (const std::string& row : rows) {
      notes.push_back(fmt::format("{}: {}", what, shown(row, kMaxRowBytes)));
    }
  };
  add("without times", comparison.without_time);
  add("only old", comparison.only_older);
  add("only new", comparison.only_newer);
  return notes;
}

std::string title_of(const RunComparison& comparison) {
  return comparison.paired ? backend_text(comparison, comparison.rows.front()) : "";
}

}  // namespace

std::string comparison_text(const RunComparison& comparison, std::size_t width) {
  const Cells cells = cells_of(comparison);
  Table table(cells.columns);
  for (const std::vector<std::string>& row : cells.rows) table.add(row);
  std::string text = title_of(comparison);
  if (!text.empty()) text += '\n';
  text += table.str(width);
  for (const std::string& note : notes_of(comparison)) text += wrapped(note, width);
  return text;
}

std::string comparison_markdown(const RunComparison& comparison) {
  const Cells cells = cells_of(comparison);
  Table table(cells.columns);
  for (const std::vector<std::string>& row : cells.rows) table.add(row);
  std::string text = escape_markdown(title_of(comparison));
  if (!text.empty()) text += "\n\n";
  text += table.markdown();
  text += '\n';
  for (const std::string& note : notes_of(comparison)) {
    text += fmt::format("- {}\n", escape_markdown(note));
  }
  return text;
}

}  // namespace lloyd::experiment
