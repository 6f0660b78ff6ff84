// Comparisons of recorded runs, and of variants within one run.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "experiment/summary/compare.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::experiment {
namespace {

constexpr std::int64_t kRepeats = 8;

using Change = std::function<void(Record&)>;

// One row: eight trials of about `ms` each.
std::vector<Record> row(std::int64_t clusters, const std::string& label, double ms,
                        const Change& change = {}) {
  std::vector<Record> records;
  for (std::int64_t repeat = 0; repeat < kRepeats; ++repeat) {
    Record& record = records.emplace_back();
    record.setting = "000000000000000" + std::to_string(clusters);
    record.axes = {{"clusters", std::to_string(clusters)}};
    record.plan.setting = clusters;
    record.plan.settings = 10;
    record.plan.repeats = kRepeats;
    record.backend.name = label;
    record.backend.label = label;
    record.backend.accuracy = "exact";
    record.dataset.samples = 100;
    record.dataset.dtype = "float32";
    record.clusters = clusters;
    record.stop = {{"max_iterations", 30}, {"tolerance", 1e-4}};
    record.repeat = repeat;
    Measurements& fit = record.fit.emplace();
    fit.iterations = 10;
    fit.fit_ms = ms * (1 + 0.001 * static_cast<double>(repeat));
    fit.loop_ms = 0.9 * fit.fit_ms;
    fit.inertia = 50;
    record.after_one.emplace().inertia = 100;
    if (change) change(record);
  }
  return records;
}

void fail(Record& record) {
  record.status = TrialStatus::failed;
  record.reason = "on fire";
  record.fit.reset();
  record.after_one.reset();
}

std::vector<std::string> verdicts(const RunComparison& comparison) {
  std::vector<std::string> texts;
  for (const ComparedRow& compared : comparison.rows) {
    texts.emplace_back(to_string(compared.time.verdict));
  }
  return texts;
}

void fix_iterations(Record& record) {
  record.stop = {{"iterations", 10}};
  record.fit->distances = 100 * record.clusters * 11;
}

// Times per iteration are not comparable if a backend evaluates fewer distances per fit.
TEST(ExperimentCompare, FewerDistancesAreComparedByWholeFits) {
  const auto fewer = [](Record& record) {
    fix_iterations(record);
    --record.fit->distances;
    record.fit->loop_ms *= 0.1;
  };
  const RunComparison runs =
      compare_recorded_runs({row(2, "a", 10, fix_iterations), row(3, "a", 10, fix_iterations)},
                            {row(2, "a", 20, fewer), row(3, "a", 20, fix_iterations)});
  EXPECT_TRUE(runs.per_iteration);
  EXPECT_TRUE(runs.rows[0].by_fits);
  EXPECT_FALSE(runs.rows[1].by_fits);
  EXPECT_NEAR(runs.rows[0].time.ratio.median, 2, 1e-9);
  EXPECT_EQ(verdicts(runs), (std::vector<std::string>{"slower", "slower"}));
  const std::string text = comparison_text(runs);
  EXPECT_NE(text.find("0.181*"), std::string::npos) << text;  // 0.1 * 0.9 * 20.07 / 10 iterations
  EXPECT_NE(text.find("\n* evaluates fewer distances"), std::string::npos) << text;
  const nlohmann::ordered_json json = comparison_json(runs);
  EXPECT_EQ(json["rows"][0]["ratio_of"], "fit");
  EXPECT_EQ(json["rows"][0]["new_fewer_distances"], true);
  EXPECT_EQ(json["rows"][0]["old_fewer_distances"], false);
  EXPECT_EQ(json["rows"][1]["ratio_of"], "iteration");

  const RunComparison paired =
      compare_variants({row(2, "a", 10, fix_iterations), row(2, "b", 20, fewer)}, "a", "b");
  EXPECT_TRUE(paired.per_iteration);
  EXPECT_NEAR(paired.rows[0].time.ratio.median, 2, 1e-9);
}

TEST(ExperimentCompare, ListsOtherDifferencesOfTheRuns) {
  const auto warnings = [](const Change& old_change, const Change& new_change) {
    const RunComparison comparison =
        compare_recorded_runs({row(2, "a", 10, old_change)}, {row(2, "a", 10, new_change)});
    const std::string text = comparison_text(comparison);
    for (const std::string& warning : comparison.warnings) {
      EXPECT_NE(text.find(warning), std::string::npos) << text;
    }
    return comparison.warnings;
  };
  const auto on = [](const std::string& cpu) {
    return [cpu](Record& record) { record.machine.cpu = cpu; };
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(warnings(on("A"), on("A")), Texts{});
  EXPECT_EQ(warnings(on("A"), on("")), Texts{});
  EXPECT_EQ(warnings(on("A"), on("B")),
            Texts{"the runs are of different processors: A (old), B (new)"});
  EXPECT_EQ(warnings([](Record& record) { record.machine.build_type = "Debug"; },
                     [](Record& record) { record.machine.build_type = "Release"; }),
            Texts{"the programs were built differently: Debug (old), Release (new)"});
  const auto by = [](const std::string& version, const std::string& commit) {
    return [=](Record& record) {
      record.machine.lloyd = version;
      record.machine.commit = commit;
    };
  };
  EXPECT_EQ(warnings(by("0.4.0", "c1"), by("0.5.0", "c2")),
            Texts{"the runs are of different versions of Lloyd: 0.4.0 (old), 0.5.0 (new)"});
  EXPECT_EQ(warnings(by("0.5.0", "c1"), by("0.5.0", "c2")),
            Texts{"the runs are of different commits of Lloyd: c1 (old), c2 (new)"});
  EXPECT_EQ(warnings(by("0.5.0", ""), by("0.5.0", "c2")), Texts{});
  EXPECT_EQ(warnings(fix_iterations, {}),
            Texts{"times are per fit: only the old run has 'stop.iterations' in every setting"});
}

TEST(ExperimentCompare, RunsAreMatchedBySettingAndLabel) {
  const RecordGroups older = {row(2, "a", 10), row(3, "a", 10), row(2, "b", 10), row(4, "a", 10)};
  const RecordGroups newer = {row(3, "a", 20), row(2, "a", 10), row(5, "a", 10), row(2, "b", 5)};
  const RunComparison comparison = compare_recorded_runs(older, newer);
  EXPECT_FALSE(comparison.paired);
  EXPECT_EQ(verdicts(comparison), (std::vector<std::string>{"same", "slower", "faster"}));
  EXPECT_EQ(comparison.only_older, std::vector<std::string>{"a with clusters 4"});
  EXPECT_EQ(comparison.only_newer, std::vector<std::string>{"a with clusters 5"});
  ASSERT_EQ(comparison.means.size(), 2u);
  EXPECT_EQ(comparison.means[0].backend, "a");
  EXPECT_NEAR(comparison.means[0].ratio.median, std::sqrt(2), 1e-9);
  EXPECT_EQ(comparison.means[0].verdict, Verdict::slower);
  EXPECT_EQ(comparison.means[1].verdict, Verdict::faster);
}

TEST(ExperimentCompare, VariantsOfOneRunArePaired) {
  const RecordGroups run = {row(2, "a", 10), row(2, "b", 10.5), row(2, "c", 1),
                            row(3, "a", 10), row(3, "b", 10.5), row(3, "c", 1)};
  const RunComparison comparison = compare_variants(run, "a", "b");
  EXPECT_TRUE(comparison.paired);
  EXPECT_EQ(verdicts(comparison), (std::vector<std::string>{"slower", "slower"}));
  EXPECT_EQ(variant_labels(run), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(message_of<InputError>([&] { compare_variants(run, "a", "bb"); }),
            "the run has no backend 'bb' (known: a, b, c)");
  EXPECT_EQ(message_of<InputError>([&] { compare_variants(run, "a", "a"); }),
            "'a' cannot be compared to itself");
}

TEST(ExperimentCompare, QuotedTextsAreCut) {
  const std::string text(5000, 'x');
  const Change fails = [&](Record& record) {
    fail(record);
    record.reason = text;
  };
  const auto refusal = [](const RecordGroups& run, const std::string& newer) {
    return message_of<InputError>([&] { compare_variants(run, "a", newer); });
  };
  EXPECT_EQ(refusal({row(2, "a", 10), row(2, "b", 10)}, text),
            "the run has no backend '" + text.substr(0, 100) + "...' (known: a, b)");
  const std::string begin =
      "nothing can be compared: no setting has times on both sides (b (new): failed: xxx";
  const std::string message = refusal({row(2, "a", 10), row(2, "b", 10, fails)}, "b");
  EXPECT_EQ(message.substr(0, begin.size()), begin);
  EXPECT_TRUE(message.ends_with("xxx...)"));
  EXPECT_LT(message.size(), 1200u);
}

TEST(ExperimentCompare, TablesCutLongTexts) {
  const Change fails = [](Record& record) {
    fail(record);
    record.reason = std::string(1'000'000, 'x');
  };
  const std::string label(1'000'000, 'y');
  const RecordGroups run = {row(2, "a", 10), row(2, "b", 10, fails), row(2, label, 10)};
  const RunComparison comparison = compare_recorded_runs(run, {row(2, "a", 10), row(2, "b", 10)});
  ASSERT_EQ(comparison.without_time.size(), 1u);
  ASSERT_EQ(comparison.only_older.size(), 1u);
  EXPECT_LT(comparison_text(comparison).size(), 6000u);
  EXPECT_LT(comparison_markdown(comparison).size(), 6000u);
  EXPECT_LT(summary_table(summarize({row(2, "a", 10), row(2, "b", 10, fails)})).size(), 6000u);
}

TEST(ExperimentCompare, TheBaselineIsTheOldOne) {
  const Change baseline = [](Record& record) { record.plan.baseline = "b"; };
  const RecordGroups run = {row(2, "a", 10, baseline), row(2, "b", 10, baseline)};
  EXPECT_EQ(variant_labels(run), (std::vector<std::string>{"b", "a"}));
}

TEST(ExperimentCompare, IterationsAreComparedWhereTheyCan) {
  const RecordGroups run = {row(2, "a", 10, fix_iterations), row(2, "b", 20, fix_iterations)};
  EXPECT_TRUE(compare_variants(run, "a", "b").per_iteration);
  EXPECT_NEAR(compare_variants(run, "a", "b").rows[0].older.time_ms.median, 0.9, 0.01);
  EXPECT_FALSE(compare_recorded_runs(run, {row(2, "a", 10)}).per_iteration);
}

TEST(ExperimentCompare, TheFasterOneMustNotBeWorse) {
  const Change worse = [](Record& record) { record.fit->inertia = 60; };
  const Change coarse = [](Record& record) { record.backend.accuracy = "float32"; };
  const RecordGroups exact = {row(2, "a", 10)};
  const auto compared = [&](double ms, const Change& change) {
    return compare_recorded_runs(exact, {row(2, "a", ms, change)});
  };
  EXPECT_EQ(compared(5, worse).rows[0].time.reason, "new: final inertia +16.7%");
  EXPECT_EQ(compared(5, worse).means[0].verdict, Verdict::unclear);
  EXPECT_EQ(compared(5, coarse).rows[0].time.reason, "new is less accurate (float32)");
  EXPECT_EQ(compared(20, coarse).rows[0].time.verdict, Verdict::slower);
  EXPECT_EQ(compare_recorded_runs({row(2, "a", 10, coarse)}, {row(2, "a", 20)}).rows[0].time.reason,
            "old is less accurate (float32)");
  const std::string text = comparison_text(compared(20, coarse));
  EXPECT_NE(text.find("float32, was exact"), std::string::npos) << text;
}

TEST(ExperimentCompare, ARunOnABusyMachineIsInconclusive) {
  const auto loaded = [](double load) {
    return [load](Record& record) {
      record.machine.cores = 2;
      record.conditions.emplace().before.load = load;
    };
  };
  const RecordGroups older = {row(2, "a", 10, loaded(2.5))};
  EXPECT_EQ(compare_recorded_runs(older, {row(2, "a", 20, loaded(3))}).rows[0].time.verdict,
            Verdict::slower);
  const RunComparison busy = compare_recorded_runs(older, {row(2, "a", 20, loaded(8))});
  EXPECT_EQ(verdicts(busy), std::vector<std::string>{"unclear"});
  EXPECT_EQ(busy.rows[0].time.reason, "new: busy machine, load 8.00");
  EXPECT_EQ(busy.means[0].verdict, Verdict::unclear);
  // Both variants of one run were slowed alike.
  const RecordGroups one = {row(2, "a", 10, loaded(8)), row(2, "b", 20, loaded(8))};
  EXPECT_EQ(verdicts(compare_variants(one, "a", "b")), std::vector<std::string>{"slower"});
}

TEST(ExperimentCompare, AMeanIsNotMoreCertainThanItsRows) {
  const auto few = [](std::int64_t clusters, const std::string& label, double ms) {
    std::vector<Record> records = row(clusters, label, ms);
    records.resize(1);
    return records;
  };
  const RunComparison one = compare_variants({few(2, "a", 10), few(2, "b", 20)}, "a", "b");
  EXPECT_EQ(one.rows[0].time.reason, "fewer than 5 timings");
  EXPECT_EQ(one.means[0].verdict, Verdict::unclear);
  EXPECT_FALSE(is_slower_than(one, 0));
  // Two rows that are unclear individually, and a less accurate newer side.
  const auto wide = [](Record& record) {
    record.backend.accuracy = "float32";
    record.fit->fit_ms = record.repeat < 2 ? 11 : 5;
  };
  const RecordGroups older = {row(2, "a", 10), row(3, "a", 10)};
  const RecordGroups both = {older[0], older[1], row(2, "b", 1, wide), row(3, "b", 1, wide)};
  EXPECT_EQ(compare_variants(both, "a", "b").means[0].verdict, Verdict::unclear);
}

TEST(ExperimentCompare, ReportsThatNothingCanBeCompared) {
  const RecordGroups one = {row(2, "a", 10)};
  EXPECT_EQ(message_of<InputError>([&] { compare_recorded_runs(one, {row(3, "a", 10)}); }),
            "nothing can be compared: the two have no setting with a backend in common; their "
            "first settings differ in clusters: 2 (old), 3 (new)");
  const auto from_file = [](const std::string& setting, const std::string& file) {
    return row(2, "a", 10, [=](Record& record) {
      record.setting = setting;
      record.seeding.method = "file";
      record.seeding.file = file;
    });
  };
  const RecordGroups centroids = {from_file("0123456789abcdef", "c.csv")};
  EXPECT_EQ(message_of<InputError>([&] {
              compare_recorded_runs(centroids, {from_file("fedcba9876543210", "c.csv")});
            }),
            "nothing can be compared: the two have no setting with a backend in common; the "
            "centroids of 'seeding.file' have changed");
  EXPECT_EQ(message_of<InputError>([&] {
              compare_recorded_runs(centroids, {from_file("fedcba9876543210", "d.csv")});
            }),
            "nothing can be compared: the two have no setting with a backend in common; their "
            "first settings differ in seeding.file: c.csv (old), d.csv (new)");
  EXPECT_EQ(message_of<InputError>([&] { compare_recorded_runs(one, {row(2, "a", 10, fail)}); }),
            "nothing can be compared: no setting has times on both sides (a (new): failed: on "
            "fire)");
  const RunComparison some = compare_recorded_runs({row(2, "a", 10), row(3, "a", 10)},
                                                   {row(2, "a", 10), row(3, "a", 10, fail)});
  EXPECT_EQ(some.rows.size(), 1u);
  EXPECT_EQ(some.without_time,
            std::vector<std::string>{"a with clusters 3 (new): failed: on fire"});
}

TEST(ExperimentCompare, SlowerThanAShare) {
  const RecordGroups older = {row(2, "a", 10), row(3, "a", 10)};
  const RunComparison slower = compare_recorded_runs(older, {row(2, "a", 12), row(3, "a", 10)});
  EXPECT_TRUE(is_slower_than(slower, 0));
  EXPECT_TRUE(is_slower_than(slower, 0.15));
  EXPECT_FALSE(is_slower_than(slower, 0.2));
  EXPECT_FALSE(is_slower_than(compare_recorded_runs(older, older), 0));
  // Different results do not excuse a slowdown; a less accurate older side does.
  const Change other = [](Record& record) { record.fit->inertia = 60; };
  EXPECT_TRUE(is_slower_than(compare_recorded_runs(older, {row(2, "a", 12, other)}), 0.15));
  const Change coarse = [](Record& record) { record.backend.accuracy = "float32"; };
  EXPECT_FALSE(
      is_slower_than(compare_recorded_runs({row(2, "a", 10, coarse)}, {row(2, "a", 12)}), 0));
  EXPECT_FALSE(is_slower_than(compare_recorded_runs(older, {row(2, "a", 5)}), 0));
}

TEST(ExperimentCompare, EveryFormatSaysTheSame) {
  const RecordGroups older = {row(2, "a", 10), row(3, "a", 10)};
  const RunComparison comparison = compare_recorded_runs(older, {row(2, "a", 12), row(3, "a", 10)});
  const std::string text = comparison_text(comparison);
  EXPECT_TRUE(text.starts_with("clusters  backend  old ms  new ms              new/old  ")) << text;
  EXPECT_NE(text.find("1.20 (1.20 - 1.20)        0        0  slower\n"), std::string::npos) << text;
  EXPECT_NE(text.find("geometric mean of a, 2 settings: 1.10 (1.09 - 1.10) slower\n"),
            std::string::npos)
      << text;
  const std::string markdown = comparison_markdown(comparison);
  EXPECT_TRUE(markdown.starts_with("| clusters | backend | old ms | ")) << markdown;
  EXPECT_NE(markdown.find("\n| 3 | a | 10.0 | 10.0 | "), std::string::npos) << markdown;
  const std::string csv = comparison_csv(comparison);
  EXPECT_TRUE(csv.starts_with("setting,clusters,old_backend,new_backend,old_ms_per_fit,")) << csv;
  const nlohmann::ordered_json json = comparison_json(comparison);
  EXPECT_EQ(json.at("rows").at(0).at("verdict"), "slower");
  EXPECT_NEAR(json.at("rows").at(0).at("ratio").get<double>(), 1.2, 1e-12);
  EXPECT_EQ(json.at("geometric_means").at(0).at("settings"), 2);
}

}  // namespace
}  // namespace lloyd::experiment
