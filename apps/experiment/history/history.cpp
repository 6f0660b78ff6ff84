#include "experiment/history/history.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "experiment/statistics/change_points.hpp"
#include "experiment/statistics/statistics.hpp"
#include "experiment/summary/summary.hpp"

namespace lloyd::experiment {
namespace {

bool is_time(double ms) {
  return std::isfinite(ms) && ms > 0;
}

// The summary's rows of one run.
struct SummarizedRun {
  std::size_t run;
  std::vector<SummaryRow> rows;
};

void add_change_points(HistoryRow& row) {
  std::vector<double> times;
  for (const HistoryPoint& point : row.points) times.push_back(point.time_ms.median);
  std::vector<std::size_t> bounds = change_points(times);
  bounds.push_back(times.size());
  const auto level = [&](std::size_t begin, std::size_t end) {
    return median({times.begin() + static_cast<std::ptrdiff_t>(begin),
                   times.begin() + static_cast<std::ptrdiff_t>(end)});
  };
  std::size_t begin = 0;
  for (std::size_t b = 0; b + 1 < bounds.size(); ++b) {
    row.changes.push_back(
        {row.points[bounds[b]].run, level(begin, bounds[b]), level(bounds[b], bounds[b + 1])});
    begin = bounds[b];
  }
}

bool have_same_paths(const std::vector<HistoryRow>& rows) {
  const auto paths = [](const HistoryRow& row) {
    std::vector<std::string> found;
    for (const AxisValue& axis : row.axes) found.push_back(axis.path);
    return found;
  };
  return std::all_of(rows.begin(), rows.end(),
                     [&](const HistoryRow& row) { return paths(row) == paths(rows.front()); });
}

}  // namespace

void sort_by_time(std::vector<LocatedRun>& runs) {
  std::stable_sort(runs.begin(), runs.end(), [](const LocatedRun& a, const LocatedRun& b) {
    return a.run.fits.front().time < b.run.fits.front().time;
  });
}

History make_history(std::vector<LocatedRun> runs) {
  History history;
  history.per_iteration = std::all_of(
      runs.begin(), runs.end(), [](const LocatedRun& run) { return run.run.fixed_iterations; });
  std::vector<SummarizedRun> summaries;
  for (LocatedRun& located : runs) {
    const FitDigest& first = located.run.fits.front();
    history.runs.push_back({located.file, located.run.id, first.time, first.commit, first.cpu});
    Summarizer summarizer(history.per_iteration);
    for (const FitDigest& fit : located.run.fits) summarizer.add(fit);
    summaries.push_back({history.runs.size() - 1, summarizer.finish().rows});
    located.run.fits.clear();
  }
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const SummarizedRun& summary : summaries) {
    for (const SummaryRow& row : summary.rows) {
      if (row.ok == 0) continue;
      const auto [place, is_new] =
          places.emplace(std::pair(row.setting, row.backend), history.rows.size());
      if (is_new)
        history.rows.push_back({row.setting, row.facts, row.axes, row.backend, false, {}, {}});
      HistoryRow& known = history.rows[place->second];
      known.by_fits = known.by_fits || (history.per_iteration && row.fewer_distances);
    }
  }
  for (const SummarizedRun& summary : summaries) {
    for (const SummaryRow& row : summary.rows) {
      if (row.ok == 0) continue;
      HistoryRow& known = history.rows[places.at(std::pair(row.setting, row.backend))];
      const MedianInterval time =
          known.by_fits ? median_interval(values_of(row.fit_timings)) : row.time_ms;
      if (is_time(time.median)) known.points.push_back({summary.run, time});
    }
  }
  std::erase_if(history.rows, [](const HistoryRow& row) { return row.points.empty(); });
  for (HistoryRow& row : history.rows) add_change_points(row);
  if (!history.rows.empty() && have_same_paths(history.rows)) {
    std::vector<std::vector<AxisValue>> settings;
    for (const HistoryRow& row : history.rows) settings.push_back(row.axes);
    history.axes = varying_axes(settings);
  }
  return history;
}

}  // namespace lloyd::experiment
