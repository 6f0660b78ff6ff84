// History: the times of many runs of an experiment, such as one for each commit.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiment/plan/varying_axes.hpp"
#include "experiment/record/record_reader.hpp"
#include "experiment/statistics/bootstrap.hpp"
#include "experiment/summary/setting_facts.hpp"
#include "text/table.hpp"

namespace lloyd::experiment {

/// One run.
struct HistoryRun {
  std::filesystem::path file;
  std::string id;      ///< Record::run
  std::string time;    ///< of the first record
  std::string commit;  ///< of the program; empty: unknown
  std::string cpu;     ///< empty: unknown
};

/// The time of one row in one run.
struct HistoryPoint {
  std::size_t run = 0;  ///< index into History::runs
  MedianInterval time_ms;
};

/// A new level of the times, see change_points().
struct HistoryChange {
  std::size_t run = 0;   ///< the first run of the new level
  double before_ms = 0;  ///< median of the medians of the level before
  double after_ms = 0;   ///< the same of the new level
};

/// One setting with one variant.
struct HistoryRow {
  std::string setting;  ///< Record::setting
  SettingFacts facts;
  std::vector<AxisValue> axes;
  std::string backend;
  bool by_fits = false;  ///< times of whole fits, although others are per iteration
  std::vector<HistoryPoint> points;
  std::vector<HistoryChange> changes;
};

struct History {
  bool per_iteration = false;     ///< times are per iteration, except in rows with `by_fits`
  std::vector<HistoryRun> runs;   ///< in the order in which they were added
  std::vector<HistoryRow> rows;   ///< in the order of their first appearance
  std::vector<VaryingAxis> axes;  ///< empty if the runs have different axes
};

/// A run and the file that holds it.
struct LocatedRun {
  std::filesystem::path file;
  DigestedRun run;
};

/// Sorts runs by the time of their first record; equal times keep their order.
void sort_by_time(std::vector<LocatedRun>& runs);

/// Collects the rows that succeeded and finds their change points. Times are per iteration if every
/// run has a fixed number of iterations. A row that evaluates fewer distances than samples x
/// clusters in any run has times of whole fits.
History make_history(std::vector<LocatedRun> runs);

/// Tables of at most `width` columns: the runs, and one row for each setting and variant.
std::string history_text(const History& history, std::size_t width = kTableWidth);
/// The same in GitHub Markdown.
std::string history_markdown(const History& history);
/// One line for each run and row: the time and its interval, and whether a new level begins.
std::string history_csv(const History& history);
nlohmann::ordered_json history_json(const History& history);

}  // namespace lloyd::experiment
