// The summary as text tables.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/internal/shell_word.hpp>

#include "experiment/plan/varying_axes.hpp"
#include "experiment/statistics/bootstrap.hpp"
#include "experiment/statistics/statistics.hpp"
#include "experiment/summary/noise.hpp"
#include "experiment/summary/summary.hpp"
#include "text/numbers.hpp"
#include "text/table.hpp"

namespace lloyd::experiment {
namespace {

struct Column {
  std::string quantity;  ///< a Quantity's name, or empty
  std::string header;
  bool right = true;
  std::function<std::string(const SummaryRow&)> cell;
};

std::string iterations_text(const SummaryRow& row) {
  return row.fewest_iterations == row.most_iterations
             ? fmt::format("{}", row.most_iterations)
             : fmt::format("{}-{}", row.fewest_iterations, row.most_iterations);
}

// The number of iterations if all trials had the same; else none.
std::optional<std::int64_t> common_iterations(const Summary& summary) {
  std::optional<std::int64_t> common;
  for (const SummaryRow& row : summary.rows) {
    if (row.ok == 0) continue;
    if (row.fewest_iterations != row.most_iterations) return {};
    if (common.value_or(row.most_iterations) != row.most_iterations) return {};
    common = row.most_iterations;
  }
  return common;
}

std::string interval_text(const SummaryRow& row) {
  if (row.ok < 2) return "";
  return fmt::format("{} - {}", format_number(row.time_ms.low), format_number(row.time_ms.high));
}

std::string spread_text(const SummaryRow& row) {
  return has_spread(row) ? fmt::format("{:.1f}%", 100 * row.spread) : "";
}

// Returns "2 of 15"; empty if there are none.
std::string outliers_text(const SummaryRow& row) {
  if (!has_spread(row) || row.outliers == 0) return "";
  return fmt::format("{} of {}", row.outliers, row.timings.size());
}

// At least five digits, without an exponent unless that is shorter.
std::string inertia_text(const SummaryRow& row) {
  const double inertia = row.quality.final_inertia;
  return inertia >= 1e5 && inertia < 1e9 ? fmt::format("{:.0f}", inertia)
                                         : fmt::format("{:.5g}", inertia);
}

// A measure of the clusters with three decimals; empty if it was not computed.
std::string measure_text(double measure) {
  return std::isfinite(measure) ? fmt::format("{:.3f}", measure) : "";
}

std::string rand_index_text(const SummaryRow& row) {
  return measure_text(row.adjusted_rand_index);
}

std::string silhouette_text(const SummaryRow& row) {
  return measure_text(row.simplified_silhouette);
}

template <class Text>
bool in_any_row(const Summary& summary, const Text& text) {
  return std::any_of(summary.rows.begin(), summary.rows.end(),
                     [&](const SummaryRow& row) { return !text(row).empty(); });
}

std::string published_text(const SummaryRow& row, const std::string& quantity) {
  const Published* published = find_published(row, quantity);
  if (published == nullptr) return "";
  return published->number ? format_number(*published->number) : published->text;
}

// The Comparison::over that all speedups over a less accurate baseline share, such as " over
// float32"; empty if they differ or there are none.
std::string common_over(const Summary& summary) {
  std::string common;
  for (const SummaryRow& row : summary.rows) {
    if (!row.comparison || row.comparison->over.empty()) continue;
    if (!common.empty() && common != row.comparison->over) return {};
    common = row.comparison->over;
  }
  return common;
}

// The accuracy of the baseline stands in the header if all speedups state the same.
Column speedup_column(const Summary& summary) {
  const std::string over = common_over(summary);
  return {"speedup", "speedup" + over, false, [over](const SummaryRow& row) {
            std::string text = speedup_text(row);
            const std::size_t at = over.empty() ? std::string::npos : text.find(over);
            if (at != std::string::npos) text.erase(at, over.size());
            return text;
          }};
}

std::vector<Column> time_columns(const Summary& summary) {
  const Quantity& time = find_quantity(summary.per_iteration ? "ms_per_iteration" : "ms_per_fit");
  std::vector<Column> columns = {
      {time.name, time.header, true,
       [](const SummaryRow& row) { return format_number(row.time_ms.median); }},
      {"", "interval", true, interval_text}};
  const auto add_if_any = [&](const char* header, const auto& text) {
    if (in_any_row(summary, text)) columns.push_back({"", header, true, text});
  };
  add_if_any("spread", spread_text);
  add_if_any("outliers", outliers_text);
  if (!common_iterations(summary)) columns.push_back({"", "iterations", true, iterations_text});
  if (has_marked_rows(summary)) {
    const Quantity& fit = find_quantity("ms_per_fit");
    columns.push_back({fit.name, fit.header, true, [](const SummaryRow& row) {
                         return format_number(median(values_of(row.fit_timings)));
                       }});
  }
  columns.push_back({"", "inertia", true, inertia_text});
  add_if_any("ARI", rand_index_text);
  add_if_any("silhouette", silhouette_text);
  if (!summary.baseline.empty()) columns.push_back(speedup_column(summary));
  return columns;
}

// A column of milliseconds and percent, as "1.23 45%".
Column phase_column(const char* quantity, double PhaseSummary::*ms, double PhaseSummary::*percent) {
  return {quantity, find_quantity(quantity).header, true, [=](const SummaryRow& row) {
            if (!row.phases || !((*row.phases).*ms >= 0)) return std::string();
            const double share = (*row.phases).*percent;  // NaN if the loop took no time
            return fmt::format("{} {}", format_number((*row.phases).*ms),
                               std::isfinite(share) ? fmt::format("{:2.0f}%", share) : "-");
          }};
}

std::vector<Column> phase_columns(const Summary& summary) {
  std::vector<Column> columns;
  // CPU backends transfer nothing.
  if (std::any_of(summary.rows.begin(), summary.rows.end(), [](const SummaryRow& row) {
        return row.phases && row.phases->transfer_ms > 0;
      })) {
    columns.push_back(phase_column("transfer_ms_per_iteration", &PhaseSummary::transfer_ms,
                                   &PhaseSummary::transfer_percent));
  }
  columns.push_back(phase_column("assignment_ms_per_iteration", &PhaseSummary::assignment_ms,
                                 &PhaseSummary::assignment_percent));
  columns.push_back(phase_column("update_ms_per_iteration", &PhaseSummary::update_ms,
                                 &PhaseSummary::update_percent));
  columns.push_back(
      phase_column("overhead_ms", &PhaseSummary::overhead_ms, &PhaseSummary::overhead_percent));
  return columns;
}

std::vector<Column> rate_columns() {
  const auto cell = [](double Rates::*rate) {
    return [rate](const SummaryRow& row) {
      return row.rates ? format_number((*row.rates).*rate) : std::string();
    };
  };
  return {{"gflop_per_s", find_quantity("gflop_per_s").header, true, cell(&Rates::gflop_per_s)},
          {"gb_per_s", find_quantity("gb_per_s").header, true, cell(&Rates::gb_per_s)}};
}

std::vector<Column> counter_columns() {
  const auto cell = [](const auto& value) {
    return [value](const SummaryRow& row) {
      const double number = row.counters ? value(row) : std::nan("");
      return std::isfinite(number) ? format_number(number) : std::string();
    };
  };
  return {
      {"", "Mcycles", true, cell([](const SummaryRow& row) { return row.counters->cycles / 1e6; })},
      {"", "Minstructions", true,
       cell([](const SummaryRow& row) { return row.counters->instructions / 1e6; })},
      {"", "instructions/cycle", true,
       cell([](const SummaryRow& row) { return row.counters->instructions_per_cycle; })},
      {"", "cache misses/sample", true, cell([](const SummaryRow& row) {
         return row.counters->cache_misses / static_cast<double>(row.quality.samples);
       })}};
}

// False if the kernel refused all counters.
bool counts_anything(const Summary& summary) {
  const std::vector<Column> columns = counter_columns();
  return std::any_of(columns.begin(), columns.end(),
                     [&](const Column& column) { return in_any_row(summary, column.cell); });
}

// The counters that the kernel refused, with the first reason; empty if there are none.
std::string refused_counters_text(const Summary& summary) {
  for (const SummaryRow& row : summary.rows) {
    if (!row.counters || row.counters->refusal.empty()) continue;
    return fmt::format("counters: the kernel refused {}", row.counters->refusal);
  }
  return "";
}

// A table of axes, backends, the columns, and the published values of the quantities in `names`.
Table table_of(const Summary& summary, const std::vector<Column>& columns,
               const std::vector<std::string>& names) {
  const std::vector<VaryingAxis> axes = varying_axes_of(summary);
  std::vector<const Quantity*> published = published_quantities(summary);
  std::erase_if(published, [&](const Quantity* quantity) {
    return std::find(names.begin(), names.end(), quantity->name) == names.end();
  });
  std::vector<Table::Column> headers;
  for (const VaryingAxis& axis : axes) headers.push_back({axis.header, true});
  headers.push_back({"backend", false});
  for (const Column& column : columns) headers.push_back({column.header, column.right});
  for (const Quantity* quantity : published) {
    // Beside the measured quantity, the word "published" suffices.
    const bool beside = published.size() == 1 && columns.back().quantity == quantity->name;
    headers.push_back({beside ? "published" : fmt::format("published {}", quantity->header), true});
  }
  Table table(std::move(headers));
  for (const SummaryRow& row : summary.rows) {
    std::vector<std::string> cells;
    for (const VaryingAxis& axis : axes) cells.push_back(axis.text(row.axes[axis.index].value));
    cells.push_back(row.backend + (is_marked(summary, row) ? " *" : "") +
                    (has_failures(row) ? " !" : ""));
    std::vector<std::string> last;
    for (const Quantity* quantity : published) last.push_back(published_text(row, quantity->name));
    if (row.ok == 0) {
      table.add(std::move(cells), row.problem, std::move(last));
      continue;
    }
    for (const Column& column : columns) cells.push_back(column.cell(row));
    cells.insert(cells.end(), last.begin(), last.end());
    table.add(std::move(cells));
  }
  return table;
}

// The restarts that a time covers; empty if no fit has several.
std::string restarts_text(const Summary& summary) {
  std::set<std::int64_t> restarts;
  for (const SummaryRow& row : summary.rows) {
    if (row.ok > 0) restarts.insert(row.restarts);
  }
  if (restarts.empty() || *restarts.rbegin() == 1) return "";
  const std::string all =
      restarts.size() == 1 ? fmt::format("all {} restarts", *restarts.begin()) : "all its restarts";
  if (!summary.per_iteration) return "; a fit: " + all;
  return "; of the restart that was kept" + (has_marked_rows(summary) ? "; ms/fit: " + all : "");
}

// Explains the times, their interval and the number of trials; empty if no row has times.
std::string legend_text(const Summary& summary) {
  const auto [fewest, most] = count_trials(summary);
  if (most == 0) return "";
  const std::string repeats = fewest == most
                                  ? format_count(static_cast<std::int64_t>(most), "repeat")
                                  : fmt::format("{} to {} repeats", fewest, most);
  std::string legend = fmt::format(
      "{}: median of {}; interval: ", summary.per_iteration ? "ms/iteration" : "ms/fit", repeats);
  if (most < kMinTimingsForInterval) return legend + "their range";
  legend += "where the true median is, with 95 %";
  if (fewest < kMinTimingsForInterval) {
    legend += fmt::format(" (of fewer than {} repeats: their range)", kMinTimingsForInterval);
  }
  return legend + "; spread: of one repeat";
}

// "openmp: 0 of 200 000 sampled labels wrong" for each backend whose labels were only sampled, or
// of which some are wrong; empty if there is none.
std::string label_checks_text(const Summary& summary) {
  struct Check {
    std::string backend;
    bool sampled = false;
    std::int64_t wrong = 0;
    std::int64_t labels = 0;
  };
  std::vector<Check> checks;
  for (const SummaryRow& row : summary.rows) {
    const std::int64_t labels = row.quality.checked_labels.value_or(row.quality.samples);
    if (row.ok == 0) continue;
    auto same = std::find_if(checks.begin(), checks.end(),
                             [&](const Check& check) { return check.backend == row.backend; });
    if (same == checks.end()) same = checks.insert(same, {row.backend});
    same->sampled = same->sampled || labels < row.quality.samples;
    same->wrong += row.quality.wrong_labels;
    same->labels += labels;
  }
  std::string text;
  for (const Check& check : checks) {
    if (!check.sampled && check.wrong == 0) continue;
    text += fmt::format("{}{}: {} of {} {}labels wrong", text.empty() ? "checks: " : "; ",
                        check.backend, format_grouped(check.wrong), format_grouped(check.labels),
                        check.sampled ? "sampled " : "");
  }
  return text;
}

// Explains the measures of the clusters in the table; empty if there are none.
std::string cluster_measures_note(const Summary& summary) {
  std::string note;
  if (in_any_row(summary, rand_index_text)) {
    note = "ARI: adjusted Rand index against the classes, 1 for equal partitions";
  }
  if (in_any_row(summary, silhouette_text)) {
    note += note.empty() ? "" : "; ";
    note += "silhouette: simplified silhouette, -1 to 1, higher is better";
  }
  return note;
}

// The rows that were skipped, by reason: "2 of 4 rows were skipped: faiss-gpu (2 rows): no GPU";
// empty if there are none.
std::string skipped_text(const Summary& summary) {
  constexpr std::string_view kSkipped = "skipped: ";
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // with their backends
  std::int64_t skipped = 0;
  for (const SummaryRow& row : summary.rows) {
    if (!row.problem.starts_with(kSkipped)) continue;
    ++skipped;
    const std::string reason = row.problem.substr(kSkipped.size());
    auto known = std::find_if(reasons.begin(), reasons.end(),
                              [&](const auto& each) { return each.first == reason; });
    if (known == reasons.end()) known = reasons.insert(known, {reason, {}});
    known->second.push_back(row.backend);
  }
  if (skipped == 0) return {};
  std::string text =
      fmt::format("{} of {} {} skipped: ", skipped, format_count(std::ssize(summary.rows), "row"),
                  skipped == 1 ? "was" : "were");
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    std::vector<std::string> backends = reasons[i].second;
    const std::int64_t rows = std::ssize(backends);
    std::sort(backends.begin(), backends.end());
    backends.erase(std::unique(backends.begin(), backends.end()), backends.end());
    text += fmt::format("{}{}{}: {}", i == 0 ? "" : "; ", fmt::join(backends, ", "),
                        rows == 1 ? "" : fmt::format(" ({} rows)", rows), reasons[i].first);
  }
  return text;
}

std::vector<std::string> source_notes(const Summary& summary) {
  std::vector<std::string> notes;
  for (const Published& source : sources_of(summary)) {
    std::string note = "published";
    if (!source.quantity.empty()) note += fmt::format(" {}", find_quantity(source.quantity).header);
    note += fmt::format(": {}", source.source);
    if (!source.note.empty()) note += fmt::format(": {}", source.note);
    notes.push_back(std::move(note));
  }
  return notes;
}

// Says how to get the ratio to a backend with less accurate labels; empty if there is none.
std::string less_accurate_note(const Summary& summary) {
  const auto row = std::find_if(
      summary.rows.begin(), summary.rows.end(),
      [](const SummaryRow& other) { return other.comparison && other.comparison->less_accurate; });
  if (row == summary.rows.end()) return "";
  return fmt::format(
      "less accurate: has no speedup over a more accurate baseline; 'lloyd report FOLDER "
      "--baseline {}' prints the ratio of {} to it, with its accuracy",
      shell_word(row->backend), summary.baseline);
}

// One line for each row whose times are those of the trials that succeeded.
std::vector<std::string> failure_notes(const Summary& summary) {
  std::vector<std::string> notes;
  for (const SummaryRow& row : summary.rows) {
    if (!has_failures(row)) continue;
    const std::string setting = setting_text(summary, row);
    notes.push_back(fmt::format("! {}{}: {}", row.backend,
                                setting.empty() ? "" : fmt::format(" with {}", setting),
                                row.problem));
  }
  if (!notes.empty()) notes.emplace_back("! the times are those of the other trials");
  return notes;
}

// A table and the notes below it.
struct Section {
  Table table;
  std::vector<std::string> notes;
};

Section time_section(const Summary& summary) {
  Section section{
      table_of(summary, time_columns(summary), {"speedup", "ms_per_iteration", "ms_per_fit"}), {}};
  std::string legend = legend_text(summary);
  if (const auto iterations = common_iterations(summary); iterations && !legend.empty()) {
    legend += fmt::format("; {} in every fit", format_count(*iterations, "iteration"));
  }
  if (!legend.empty()) section.notes.push_back(legend + restarts_text(summary));
  const std::string measures = cluster_measures_note(summary);
  if (!measures.empty()) section.notes.push_back(measures);
  const std::string mark = mark_note(summary);
  if (!mark.empty()) section.notes.push_back("* " + mark);
  for (std::string& note : failure_notes(summary)) section.notes.push_back(std::move(note));
  for (const std::string& note : canonical_notes(summary)) section.notes.push_back("! " + note);
  for (std::string& note : empty_cluster_notes(summary)) section.notes.push_back(std::move(note));
  const std::string accuracy = less_accurate_note(summary);
  if (!accuracy.empty()) section.notes.push_back(accuracy);
  const std::string noise = noise_text(summary);
  if (!noise.empty()) section.notes.push_back(noise);
  const std::string checks = label_checks_text(summary);
  if (!checks.empty()) section.notes.push_back(checks);
  return section;
}

std::vector<Section> sections_of(const Summary& summary) {
  std::vector<Section> sections = {time_section(summary)};
  if (has_phases(summary)) {
    sections.push_back({table_of(summary, phase_columns(summary),
                                 {"transfer_ms_per_iteration", "assignment_ms_per_iteration",
                                  "update_ms_per_iteration", "overhead_ms"}),
                        {"ms per iteration, of overhead per fit: what is left of the loop and the "
                         "closing assignment; percent of these two"}});
    sections.push_back({table_of(summary, rate_columns(), {"gflop_per_s", "gb_per_s"}),
                        {"GFLOP/s: nk(3d + 2) + d(n + k) operations per iteration; GB/s: every "
                         "sample read once for each centroid, whatever the caches save"}});
  }
  if (counts_anything(summary)) {
    sections.push_back({table_of(summary, counter_columns(), {}),
                        {"of a whole fit, all threads, in user mode; M: millions"}});
  }
  const std::string refused = refused_counters_text(summary);
  if (!refused.empty()) sections.back().notes.push_back(refused);
  std::vector<std::string>& last = sections.back().notes;
  for (std::string& note : source_notes(summary)) last.push_back(std::move(note));
  return sections;
}

}  // namespace

std::string summary_table(const Summary& summary, std::size_t width) {
  const std::string skipped = skipped_text(summary);
  std::string text = skipped.empty() ? skipped : wrapped(skipped, width);
  for (const std::string& line : data_lines(summary)) text += wrapped(line, width);
  for (const Section& section : sections_of(summary)) {
    if (!text.empty()) text += '\n';
    text += section.table.str(width);
    for (const std::string& note : section.notes) text += wrapped(note, width);
  }
  return text;
}

std::string summary_markdown(const Summary& summary) {
  const std::string skipped = skipped_text(summary);
  std::string text = skipped.empty() ? skipped : escape_markdown(skipped) + '\n';
  for (const std::string& line : data_lines(summary)) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", escape_markdown(line));
  }
  for (const Section& section : sections_of(summary)) {
    if (!text.empty()) text += '\n';
    text += section.table.markdown() + '\n';
    for (const std::string& note : section.notes) {
      text += fmt::format("- {}\n", escape_markdown(note));
    }
  }
  return text;
}

std::string summary_latex(const Summary& summary) {
  std::string text = "% \\usepackage{booktabs}\n";
  const std::string skipped = skipped_text(summary);
  if (!skipped.empty()) text += fmt::format("% {}\n", skipped);
  for (const std::string& line : data_lines(summary)) {
    text += fmt::format("\\noindent{{\\footnotesize {}\\par}}\n\n", escape_latex(line));
  }
  for (const Section& section : sections_of(summary)) {
    text += section.table.latex();
    for (const std::string& note : section.notes) {
      text += fmt::format("\n\\noindent{{\\footnotesize {}\\par}}\n", escape_latex(note));
    }
  }
  return text;
}

}  // namespace lloyd::experiment
