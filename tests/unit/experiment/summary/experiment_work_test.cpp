// Phases and rates in the summary, from records made by hand.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "experiment/summary/summary.hpp"
#include "text/table.hpp"

namespace lloyd::experiment {
namespace {

using nlohmann::ordered_json;

// 10 samples of 2 features in 3 clusters: 4 iterations of `ms` each.
Record trial(double ms) {
  Record record;
  record.backend.name = record.backend.label = "one";
  record.backend.accuracy = "exact";
  record.dataset.samples = 10;
  record.dataset.features = 2;
  record.dataset.dtype = "float32";
  record.clusters = 3;
  record.plan.repeats = 3;
  record.stop = {{"iterations", 4}};
  Measurements& fit = record.fit.emplace();
  fit.iterations = 4;
  fit.inertia = 1;
  fit.loop_ms = 4 * ms;
  fit.closing_ms = ms;
  fit.fit_ms = 5 * ms;
  fit.distances = 10 * 3 * 5;
  fit.phases.assignment_ms = 3 * ms;
  fit.phases.update_ms = ms / 2;
  return record;
}

TEST(ExperimentWork, PhasesAreMediansPerIterationAndTheRestIsOverhead) {
  const PhaseSummary phases = phases_of(FitDigest({trial(1), trial(4), trial(2)})).value();
  EXPECT_DOUBLE_EQ(phases.assignment_ms, 1.5);
  EXPECT_DOUBLE_EQ(phases.assignment_percent, 60);
  EXPECT_DOUBLE_EQ(phases.update_ms, 0.25);
  EXPECT_DOUBLE_EQ(phases.update_percent, 10);
  EXPECT_DOUBLE_EQ(phases.overhead_ms, 3);
  EXPECT_DOUBLE_EQ(phases.overhead_percent, 30);
  EXPECT_FALSE(phases.transfer_ms >= 0);  // not measured

  Record plain = trial(1);
  plain.fit->phases = {};
  EXPECT_FALSE(phases_of(FitDigest({plain})));
}

TEST(ExperimentWork, RatesAreByTheStatedCounts) {
  // 10 * 3 * (3 * 2 + 2) + 2 * (10 + 3) = 266 operations, 10 * 3 * 2 float32 numbers.
  const Rates rates = rates_of(FitDigest(trial(1)), 0.5);
  EXPECT_DOUBLE_EQ(rates.gflop_per_s, 266 / 0.5e-3 / 1e9);
  EXPECT_DOUBLE_EQ(rates.gb_per_s, 240 / 0.5e-3 / 1e9);
  Record wide = trial(1);
  wide.dataset.dtype = "float64";
  EXPECT_DOUBLE_EQ(rates_of(FitDigest(wide), 0.5).gb_per_s, 480 / 0.5e-3 / 1e9);
}

TEST(ExperimentWork, ABackendThatLeavesDistancesOutHasNoRates) {
  Record pruned = trial(1);
  --pruned.fit->distances;
  EXPECT_TRUE(summarize({{trial(1)}}).rows[0].rates);
  EXPECT_FALSE(summarize({{pruned}}).rows[0].rates);
}

TEST(ExperimentWork, ProfiledRunsHaveTablesOfPhasesAndRates) {
  const std::string table = summary_table(summarize({{trial(1), trial(4), trial(2)}}));
  EXPECT_NE(table.find("backend  assignment     update  overhead\n"), std::string::npos) << table;
  EXPECT_NE(table.find("one        1.50 60%  0.250 10%  3.00 30%\n"), std::string::npos) << table;
  EXPECT_NE(table.find("backend   GFLOP/s      GB/s\n"), std::string::npos) << table;
  Record plain = trial(1);
  plain.fit->phases = {};
  const std::string without = summary_table(summarize({{plain}}));
  EXPECT_EQ(without.find("assignment"), std::string::npos) << without;
  EXPECT_NE(summary_csv(summarize({{plain}})).find("gflop_per_s"), std::string::npos);
}

TEST(ExperimentWork, CountersAreMediansOfWholeFits) {
  const auto counted = [](std::int64_t cycles, std::int64_t instructions) {
    Record record = trial(1);
    record.fit->counters = machine::CpuCounts{cycles, instructions, 40, {}};
    return record;
  };
  const CounterSummary counters =
      counters_of(FitDigest({counted(100, 100), counted(400, 800), counted(200, 600)})).value();
  EXPECT_DOUBLE_EQ(counters.cycles, 200);
  EXPECT_DOUBLE_EQ(counters.instructions, 600);
  EXPECT_DOUBLE_EQ(counters.cache_misses, 40);
  EXPECT_DOUBLE_EQ(counters.instructions_per_cycle, 2);
  EXPECT_FALSE(counters_of(FitDigest({trial(1)})));

  const Summary summary = summarize({{counted(3'000'000, 6'000'000)}});
  const std::string table = summary_table(summary);
  EXPECT_NE(
      table.find("backend  Mcycles  Minstructions  instructions/cycle  cache misses/sample\n"),
      std::string::npos)
      << table;
  EXPECT_NE(
      table.find("one         3.00           6.00                2.00                 4.00\n"),
      std::string::npos)
      << table;
  const ordered_json row = summary_json(summary, "folder").at("rows").at(0);
  EXPECT_EQ(row.at("cycles"), 3e6);
  EXPECT_EQ(row.at("instructions"), 6e6);
  EXPECT_EQ(row.at("cache_misses"), 40);
  EXPECT_FALSE(summary_json(summarize({{trial(1)}}), "folder").at("rows").at(0).contains("cycles"));
}

TEST(ExperimentWork, RefusedCountersAreReportedOnce) {
  Record refused = trial(1);
  refused.fit->counters = machine::CpuCounts{{}, {}, {}, "cycles: forbidden"};
  Record other = refused;
  other.plan.setting = 1;
  const Summary summary = summarize({{refused}, {other}});
  const std::string table = summary_table(summary);
  const std::string note = "counters: the kernel refused cycles: forbidden\n";
  EXPECT_NE(table.find(note), std::string::npos) << table;
  EXPECT_EQ(table.find(note), table.rfind(note)) << table;
  EXPECT_EQ(table.find("Mcycles"), std::string::npos) << "nothing was counted: " << table;
  EXPECT_TRUE(summary_json(summary, "folder").at("rows").at(0).at("cycles").is_null());
}

TEST(ExperimentTable, ATextStandsBetweenFirstAndLastCells) {
  Table table({{"a", false}, {"bb", true}, {"cc", true}, {"d", true}});
  table.add({"1", "2", "3", "4"});
  table.add({"1"}, "lo ng", {"4"});
  EXPECT_EQ(table.str(40),
            "a  bb  cc  d\n"
            "------------\n"
            "1   2   3  4\n"
            "1  lo ng   4\n");
}

TEST(ExperimentTable, ATextBetweenCellsTakesTheAvailableWidth) {
  Table table({{"a", false}, {"b", true}, {"c", true}});
  table.add({"1"}, "twelve chars", {"4"});
  EXPECT_EQ(table.str(20),
            "a             b  c\n"
            "------------------\n"
            "1  twelve chars  4\n");
  table.add({"2"}, "more than twelve", {"5"});
  EXPECT_EQ(table.str(20),
            "a               b  c\n"
            "--------------------\n"
            "1  twelve chars    4\n"
            "2  more than       5\n"
            "   twelve\n");
}

TEST(ExperimentTable, WordsAndNumbersStayWholeInTooManyColumns) {
  EXPECT_EQ(wrap("program=/some/path", 14), (std::vector<std::string>{"program=/some/", "path"}));
  Table table({{"one header", true}, {"instructions", true}, {"c", false}});
  table.add({"k-means++", "0.25 45%", "abcdefghijklmnopqrstuvwxyz"});
  table.add({"1"}, "a text", {});
  EXPECT_EQ(table.str(20),
            "      one  instructions  c\n"
            "   header\n"
            "---------------------------------------------\n"
            "k-means++      0.25 45%  abcdefghijklmnopqrst\n"
            "                         uvwxyz\n"
            "        1  a text\n");
}

TEST(ExperimentTable, NamesAreBrokenAtHyphensAndHeadersLast) {
  EXPECT_EQ(wrap("cuda-shared-reduction", 14),
            (std::vector<std::string>{"cuda-shared-", "reduction"}));
  EXPECT_EQ(wrap("1.75 (1.67 - 1.98)", 16), (std::vector<std::string>{"1.75", "(1.67 - 1.98)"}));
  EXPECT_EQ(wrap("0.0698 - 0.122", 11), (std::vector<std::string>{"0.0698 -", "0.122"}));
  EXPECT_EQ(wrap("1e-05-1e-06", 6), (std::vector<std::string>{"1e-05-", "1e-06"}));
  Table table({{"header", true}, {"b", false}});
  table.add({"1", "aaaa bbbb"});
  EXPECT_EQ(table.str(12),
            "header  b\n"
            "------------\n"
            "     1  aaaa\n"
            "        bbbb\n");
}

}  // namespace
}  // namespace lloyd::experiment
