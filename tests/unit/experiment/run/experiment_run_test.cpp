// Plans, runs and summaries with backends that work, fail, or are missing.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "experiment/plan/initial_centroids.hpp"
#include "experiment/summary/plan_text.hpp"
#include "experiment/summary/summary.hpp"
#include "text/table.hpp"
#include "unit/support/experiment_fake_run.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::experiment {
namespace {

constexpr const char* kRunConfig = R"(
experiment: fakes
dataset: {blobs: {samples: 500, features: 3, centers: 9}}
stop: {iterations: 4}
backends: [sequential, openmp: {threads: [1, 2]}, limited, broken, absent]
baseline: sequential
repeats: 3
sweep: {clusters: [8, 9]}
)";

class ExperimentRun : public testing::Test {
 protected:
  void make(const std::string& text, const Machine& machine = {}) {
    plan_ = fake::plan_of(text, datasets_, machine);
  }

  RunResult run(const std::function<void(const Record&)>& keep) {
    InProcessRunner runner(plan_, datasets_, switch_, "run", {});
    return fake::run_quietly(plan_, runner, keep, [&] { return switch_.on; });
  }

  static std::size_t widest_line(const std::string& text) {
    std::istringstream stream(text);
    std::size_t widest = 0;
    for (std::string line; std::getline(stream, line);) {
      widest = std::max(widest, text_width(line));
    }
    return widest;
  }

  fake::Switch switch_;
  DatasetCache datasets_;
  Plan plan_;
};

TEST_F(ExperimentRun, PlanSaysWhatIsSkippedAndWhy) {
  make(kRunConfig);
  ASSERT_EQ(plan_.settings.size(), 2u);
  ASSERT_EQ(plan_.variants.size(), 6u);
  EXPECT_EQ(plan_.trials(), 9 * 3);
  EXPECT_EQ(plan_.skipped(), 3);
  EXPECT_EQ(plan_.fit(0, 3).skip, "");
  EXPECT_EQ(plan_.fit(1, 3).skip, "at most 8 clusters, not 9");
  EXPECT_EQ(plan_.fit(0, 5).skip, "there is no device");
  EXPECT_GE(plan_.fit(0, 0).memory->host_bytes, 500 * 3 * 4 + 500 * 4);
  EXPECT_EQ(message_of<InputError>([&] { require_all(plan_); }),
            "3 of 12 fits would be skipped, and --require forbids it: absent: there is no device");
  const std::string text = plan_text(plan_);
  EXPECT_NE(text.find("2 settings x 6 backend variants x 3 repeats = 36 trials"),
            std::string::npos);
  EXPECT_NE(text.find("skipped: at most 8 clusters, not 9"), std::string::npos);
  EXPECT_LE(widest_line(text), 100u);
}

TEST_F(ExperimentRun, WhatDoesNotFitIntoMemoryOrIsNotSupportedIsSkipped) {
  Machine machine;
  machine.memory_bytes = 4096;
  make("{dataset: {blobs: {}, dtype: float64}, backends: [sequential]}", machine);
  EXPECT_EQ(plan_.fit(0, 0).skip, "does not support float64 data");
  make("{dataset: {blobs: {}}, backends: [sequential]}", machine);
  EXPECT_TRUE(plan_.fit(0, 0).skip.ends_with(" of memory, the machine has 4.0 KiB"));
  machine.memory_bytes = 1'500'000;  // 800 kB of samples
  make("{dataset: {blobs: {}}, backends: [sequential]}", machine);
  EXPECT_EQ(
      plan_.fit(0, 0).skip,
      "its data set takes 781.2 KiB, twice while it is handed to a process of its own, and the "
      "machine has 1.4 MiB; 'isolate: none' would run it");
  make("{dataset: {blobs: {}}, backends: [sequential], isolate: none}", machine);
  EXPECT_EQ(plan_.fit(0, 0).skip, "");
  make("{dataset: {blobs: {}}, backends: [sequential], memory_limit: 800000}");
  EXPECT_TRUE(plan_.fit(0, 0).skip.ends_with(" of memory, 'memory_limit' is 781.2 KiB"));
}

TEST_F(ExperimentRun, TheCentroidsOfAllRestartsCountAsMemory) {
  const auto config = [](const std::string& keys) {
    return "{dataset: {blobs: {samples: 1000, features: 10}}, clusters: 100, backends: "
           "[sequential], " +
           keys + "}";
  };
  const auto host_bytes = [&](const std::string& keys) {
    make(config(keys));
    return plan_.fit(0, 0).memory->host_bytes;
  };
  const std::int64_t one = 100 * 10 * 8;
  EXPECT_EQ(host_bytes("restarts: 1002, isolate: none") - host_bytes("restarts: 2, isolate: none"),
            1000 * one);
  EXPECT_EQ(host_bytes("restarts: 1002") - host_bytes("restarts: 2"), 3 * 1000 * one);
  Machine machine;
  machine.memory_bytes = 20 * 1000 * one;
  make(config("sweep: {restarts: [2, 1000000]}"), machine);
  EXPECT_EQ(plan_.fit(0, 0).skip, "");
  EXPECT_EQ(plan_.fit(1, 0).skip, "needs 22.4 GiB of memory, the machine has 152.6 MiB");
}

TEST(ExperimentInitialCentroids, ThoseOfManySeedsDoNotAddUp) {
  const Dataset dataset("points", Matrix::from_values(std::vector<float>(100 * 4, 1), 100, 4));
  FitOptions options;
  options.clusters = 10;
  const std::int64_t one = 10 * 4 * 8;
  InitialCentroids centroids(2 * one);
  const auto is_made = [&](std::uint64_t seed) {
    options.seeding.seed = seed;
    bool made = false;
    centroids.get(dataset, "key", options, [&made] {
      made = true;
      return false;
    });
    return made;
  };
  EXPECT_TRUE(is_made(1));
  EXPECT_TRUE(is_made(2));
  EXPECT_FALSE(is_made(1));
  EXPECT_TRUE(is_made(3));
  EXPECT_FALSE(is_made(2));
  EXPECT_TRUE(is_made(4)) << "the three before take more than may be kept";
  EXPECT_FALSE(is_made(4));
  EXPECT_TRUE(is_made(1));
}

TEST(ExperimentInitialCentroids, FewBytesOfEarlierOnesAreKept) {
  const std::int64_t samples = 100'000;
  const Dataset dataset("points",
                        Matrix::from_values(std::vector<float>(samples * 16, 1), samples, 16));
  FitOptions options;
  options.clusters = samples;  // 12.2 MiB of centroids
  options.seeding.method = SeedingMethod::first;
  InitialCentroids centroids;
  const auto is_made = [&](std::uint64_t seed) {
    options.seeding.seed = seed;
    bool made = false;
    centroids.get(dataset, "key", options, [&made] {
      made = true;
      return false;
    });
    return made;
  };
  EXPECT_TRUE(is_made(1));
  EXPECT_TRUE(is_made(2));
  EXPECT_FALSE(is_made(1));
  EXPECT_TRUE(is_made(3));
  EXPECT_TRUE(is_made(1)) << "no more than 16 MiB are kept beside the new ones";
}

TEST_F(ExperimentRun, TheHashOfASettingIsStable) {
  make(kRunConfig);
  const std::string first = plan_.settings[0].hash;
  EXPECT_NE(first, plan_.settings[1].hash);
  make(kRunConfig);
  EXPECT_EQ(plan_.settings[0].hash, first);
  make("{dataset: {blobs: {}}, backends: [sequential]}");
  EXPECT_EQ(plan_.settings[0].hash, "a369bd685e97f578");
  EXPECT_FALSE(plan_.settings[0].setting.cold_l2);
  make("{dataset: {blobs: {}}, backends: [sequential], sweep: {cold_l2: [false, true]}}");
  EXPECT_EQ(plan_.settings[0].hash, "a369bd685e97f578");
  EXPECT_NE(plan_.settings[1].hash, "a369bd685e97f578");
  EXPECT_TRUE(plan_.settings[1].setting.cold_l2);
}

TEST_F(ExperimentRun, EachTrialLeavesARecord) {
  make(kRunConfig);
  std::vector<Record> kept;
  const RunResult result = run([&](const Record& record) { kept.push_back(record); });
  EXPECT_FALSE(result.cancelled);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.failed, 6);
  EXPECT_EQ(kept.size(), 9u * 3 + 3);

  // Skipped fits come first, followed by rounds with the backends in random order.
  std::vector<std::string> round;
  for (std::size_t i = 0; i < 6; ++i) {
    round.push_back(std::string(to_string(kept[i].status)) + " " + kept[i].backend.name);
  }
  EXPECT_EQ(round.front(), "skipped absent");
  std::sort(round.begin(), round.end());
  EXPECT_EQ(round, (std::vector<std::string>{"failed broken", "ok limited", "ok openmp",
                                             "ok openmp", "ok sequential", "skipped absent"}));
  for (std::size_t i = 1; i < 16; ++i) EXPECT_EQ(kept[i].order, static_cast<std::int64_t>(i - 1));
  const Record& ok = result.records[0].front();
  EXPECT_EQ(ok.fit->iterations, 4);
  EXPECT_EQ(ok.fit->distances, 500 * 8 * 5);
  EXPECT_EQ(ok.after_one->labels.wrong, 0);
  EXPECT_GT(ok.after_one->inertia, 0);
  EXPECT_GE(*ok.seeding.ms, 0);
  EXPECT_EQ(ok.dataset.fingerprint.size(), 16u);
  EXPECT_EQ(result.records[4].front().reason, "broken: the device is on fire");
  EXPECT_FALSE(result.records[4].front().fit);
  for (const Record& record : kept) {
    const nlohmann::ordered_json json = to_json(record);
    EXPECT_EQ(to_json(record_from_json(json)), json);
  }
}

TEST_F(ExperimentRun, RestartsKeepTheLeastInertia) {
  make(
      "{dataset: {blobs: {samples: 500, centers: 20}}, clusters: 20, seeding: random, "
      "restarts: 4, backends: [sequential], repeats: 1, sweep: {restarts: [1, 4]}}");
  const RunResult result = run([](const Record&) {});
  const Record& one = result.records[0].front();
  const Record& four = result.records[1].front();
  EXPECT_LE(four.fit->inertia, one.fit->inertia);
  EXPECT_EQ(four.after_one->inertia, one.after_one->inertia);
}

TEST_F(ExperimentRun, SampledLabelsAreCountedInRecordsAndSummary) {
  const auto checked = [&](const std::string& checks) {
    make(
        "{dataset: {blobs: {samples: 3000}}, backends: [sequential, openmp], repeats: 2, checks: " +
        checks + "}");
    const RunResult result = run([](const Record&) {});
    for (const auto& records : result.records) {
      for (const Record& record : records) {
        EXPECT_EQ(to_json(record).at("checked_labels"), record.after_one->labels.samples);
        EXPECT_EQ(record_from_json(to_json(record)).after_one->labels.samples,
                  record.after_one->labels.samples);
      }
    }
    return std::pair(result.records[0].back().after_one->labels.samples,
                     summary_table(summarize(result.records)));
  };
  const auto [all, complete] = checked("{samples: all}");
  EXPECT_EQ(all, 3000);
  EXPECT_EQ(complete.find("sampled"), std::string::npos) << complete;

  const auto [some, table] = checked("{samples: 2000}");
  EXPECT_EQ(some, 2000);
  EXPECT_NE(table.find("\nchecks: sequential: 0 of 2 000 sampled labels wrong; openmp: 0 of 2 000 "
                       "sampled labels wrong\n"),
            std::string::npos)
      << table;
}

TEST_F(ExperimentRun, WrongLabelsAreCountedWithoutABaseline) {
  make("{dataset: {blobs: {samples: 300}}, backends: [sequential, openmp], repeats: 2}");
  RunResult result = run([](const Record&) {});
  for (Record& record : result.records[1]) {
    record.backend.accuracy = "float32";
    record.after_one->labels.wrong = 12;
  }
  const std::string table = summary_table(summarize(result.records));
  EXPECT_NE(table.find("\nchecks: openmp: 12 of 300 labels wrong\n"), std::string::npos) << table;
}

TEST_F(ExperimentRun, SummaryHasARowForEachSettingAndVariant) {
  make(kRunConfig);
  const RunResult result = run([](const Record&) {});
  const Summary summary = summarize(result.records);
  ASSERT_EQ(summary.rows.size(), 12u);
  EXPECT_TRUE(summary.per_iteration);
  EXPECT_FALSE(summary.rows[0].comparison);
  EXPECT_TRUE(summary.rows[1].comparison->speedup);
  EXPECT_EQ(summary.rows[4].problem, "failed: broken: the device is on fire");
  EXPECT_EQ(summary.rows[5].problem, "skipped: there is no device");
  const std::string table = summary_table(summary);
  EXPECT_LE(widest_line(table), 100u);
  EXPECT_TRUE(
      table.starts_with("3 of 12 rows were skipped: absent (2 rows): there is no device; "
                        "limited: at most 8 clusters, not 9\nblobs: n = 500; d = 3; k = 8, 9; seed "
                        "= 0; blobs.centers = 9; iterations = 4\n\n"
                        "clusters  backend "))
      << table;
  EXPECT_NE(table.find("skipped: at most 8 clusters, not 9"), std::string::npos);
  const std::string csv = summary_csv(summary);
  EXPECT_TRUE(csv.starts_with("setting,clusters,backend,accuracy,trials,ms_per_iteration,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 13);
}

TEST_F(ExperimentRun, FewerDistancesAreMarkedAndComparedByWholeFits) {
  make(kRunConfig);
  RunResult result = run([](const Record&) {});
  EXPECT_EQ(summary_table(summarize(result.records)).find('*'), std::string::npos);
  for (Record& record : result.records[1]) {
    --record.fit->distances;
    record.fit->loop_ms = 40;
    record.fit->fit_ms = 50;
  }
  for (Record& record : result.records[0]) {
    record.fit->loop_ms = 80;
    record.fit->fit_ms = 200;
  }
  const Summary summary = summarize(result.records);
  EXPECT_TRUE(summary.per_iteration);
  EXPECT_EQ(summary.rows[1].time_ms.median, 10);  // 4 iterations
  EXPECT_TRUE(is_marked(summary, summary.rows[1]));
  EXPECT_FALSE(is_marked(summary, summary.rows[0]));
  EXPECT_TRUE(summary.rows[1].compared_by_fits);
  EXPECT_EQ(summary.rows[1].comparison->speedup->median, 4);  // of whole fits; 2 per iteration
  EXPECT_FALSE(summary.rows[2].compared_by_fits);
  const std::string table = summary_table(summary);
  EXPECT_LE(widest_line(table), 100u);
  for (const char* text :
       {"ms/iteration", "ms/fit", "threads=1 *", "\n* evaluates fewer distances"}) {
    EXPECT_NE(table.find(text), std::string::npos) << text << '\n' << table;
  }
  const nlohmann::ordered_json json = summary_json(summary, "out");
  EXPECT_EQ(json["unit"], "ms_per_iteration");
  EXPECT_TRUE(json["fewer_distances"].is_string());
  EXPECT_EQ(json["rows"][0]["fewer_distances"], false);
  EXPECT_EQ(json["rows"][1]["fewer_distances"], true);
  EXPECT_EQ(json["rows"][1]["ms_per_iteration"], 10);
  EXPECT_EQ(json["rows"][1]["ms_per_fit"], 50);
  EXPECT_EQ(json["rows"][1]["speedup_of"], "fit");
  EXPECT_EQ(json["rows"][2]["speedup_of"], "iteration");
}

TEST_F(ExperimentRun, ABaselineOfFewerDistancesIsComparedByWholeFits) {
  make(kRunConfig);
  RunResult result = run([](const Record&) {});
  for (Record& record : result.records[0]) --record.fit->distances;
  const Summary summary = summarize(result.records);
  EXPECT_TRUE(summary.rows[1].compared_by_fits);
  EXPECT_FALSE(is_marked(summary, summary.rows[1]));
}

TEST_F(ExperimentRun, TheLegendSaysWhatAFitOfSeveralRestartsIs) {
  const auto table_with = [&](const std::string& keys) {
    make("{dataset: {blobs: {samples: 50}}, backends: [sequential], repeats: 1, " + keys + "}");
    std::string table = summary_table(summarize(run([](const Record&) {}).records));
    std::replace(table.begin(), table.end(), '\n', ' ');
    return table;
  };
  EXPECT_EQ(table_with("restarts: 1").find("restart"), std::string::npos);
  EXPECT_NE(table_with("restarts: 4").find("a fit: all 4 restarts"), std::string::npos);
  EXPECT_NE(table_with("sweep: {restarts: [1, 4]}").find("a fit: all its restarts"),
            std::string::npos);
  EXPECT_NE(table_with("restarts: 4, stop: {iterations: 3}").find("of the restart that was kept"),
            std::string::npos);
}

TEST_F(ExperimentRun, OneSettingWithoutFixedIterationsMakesAllTimesThoseOfFits) {
  make(
      "{dataset: {blobs: {samples: 50}}, backends: [sequential], repeats: 1, "
      "sweep: {stop: [{iterations: 3}, {max_iterations: 3}]}}");
  const std::string table = summary_table(summarize(run([](const Record&) {}).records));
  EXPECT_NE(table.find("ms/fit"), std::string::npos);
  EXPECT_EQ(table.find("ms/iteration"), std::string::npos) << table;
}

TEST_F(ExperimentRun, WithoutABaselineThereIsNoSpeedup) {
  make("{dataset: {blobs: {samples: 50}}, backends: [sequential], repeats: 1}");
  const RunResult result = run([](const Record&) {});
  const Summary summary = summarize(result.records);
  EXPECT_FALSE(summary.per_iteration);
  EXPECT_EQ(summary_table(summary).find("speedup"), std::string::npos);
  EXPECT_EQ(summary_csv(summary).find("speedup"), std::string::npos);
}

TEST_F(ExperimentRun, AnInterruptedRunKeepsWhatWasDone) {
  make(kRunConfig);
  std::vector<Record> kept;
  // Setting the switch cancels the fit that is running.
  const RunResult result = run([&](const Record& record) {
    kept.push_back(record);
    switch_.on = kept.size() == 3;
  });
  EXPECT_TRUE(result.cancelled);
  // Skipped and completed fits, and a record for each fit that was not reached.
  EXPECT_EQ(kept.size(), 12u);
  for (std::size_t i = 3; i < kept.size(); ++i) {
    const bool skipped = !plan_.fit(kept[i].plan.setting, kept[i].plan.variant).skip.empty();
    EXPECT_EQ(kept[i].status, skipped ? TrialStatus::skipped : TrialStatus::cancelled);
  }
  const Summary summary = summarize(result.records);
  for (const std::size_t ran : {1u, 2u}) {
    const Record& record = kept[ran];
    const std::string problem = record.status == TrialStatus::ok ? "" : "failed: " + record.reason;
    EXPECT_EQ(summary.rows[static_cast<std::size_t>(record.plan.variant)].problem, problem);
  }
  EXPECT_EQ(
      std::count_if(summary.rows.begin(), summary.rows.end(),
                    [](const SummaryRow& row) { return row.problem == "cancelled: not run"; }),
      12 - 3 - 2);  // without skipped and completed ones
  EXPECT_EQ(summary.rows[9].problem, "skipped: at most 8 clusters, not 9");
}

TEST_F(ExperimentRun, ACancelledFitIsRecordedAsSuch) {
  make("{dataset: {blobs: {samples: 50}}, backends: [sequential], repeats: 1}");
  switch_.on = true;
  InProcessRunner runner(plan_, datasets_, switch_, "run", {});
  const Record record = runner.run(plan_.fits.front(), 0);
  EXPECT_EQ(record.status, TrialStatus::cancelled);
  EXPECT_EQ(record.reason, "interrupted");
}

TEST_F(ExperimentRun, ProgressLearnsThePaceOfEachVariant) {
  make(kRunConfig);
  std::string text;
  Progress progress(
      plan_, [&](std::string_view written) { text += written; }, true);
  EXPECT_LT(progress.seconds_left(), 0);
  for (const PlannedFit& fit : plan_.fits) {
    if (!fit.skip.empty()) continue;
    for (std::int64_t repeat = 0; repeat < plan_.repeats; ++repeat) {
      progress.begin(fit, repeat);
      Record record = describe_trial(plan_, fit, repeat, "run", {});
      record.fit.emplace();
      progress.end(record);
      EXPECT_GE(progress.seconds_left(), 0);
    }
  }
  EXPECT_EQ(progress.seconds_left(), 0);
  progress.note("done");
  EXPECT_TRUE(text.starts_with("\r\x1b[K[1/27] sequential, clusters 8, repeat 1/3"));
  EXPECT_TRUE(text.ends_with("\r\x1b[Kdone\n"));
}

// A stage is named at once if it has no steps, after a second if it has, and never without a
// terminal.
TEST_F(ExperimentRun, ProgressNamesWhatRuns) {
  make(kRunConfig);
  const auto written_by = [&](bool terminal, const auto& stages) {
    std::string text;
    {
      Progress progress(
          plan_, [&](std::string_view written) { text += written; }, terminal);
      progress.begin(plan_.fits.front(), 0);
      text.clear();
      stages(progress);
    }
    return text;
  };
  const std::string trial = "\r\x1b[K[1/27] sequential, clusters 8, repeat 1/3";
  const auto data = [](Progress& progress) {
    progress.stage("generating data", 0, 0);
    progress.stage("", 0, 0);
  };
  EXPECT_EQ(written_by(true, data), "\r\x1b[K[1/27] generating data" + trial + "\r\x1b[K");
  EXPECT_EQ(written_by(false, data), "");

  const auto seeding = [](Progress& progress) {
    progress.stage("seeding", 1, 1000);
    std::this_thread::sleep_for(apps::StageText::kInitialSilence + std::chrono::milliseconds(1));
    progress.stage("seeding", 340, 1000);
    progress.stage("seeding", 1000, 1000);
  };
  const std::string text = written_by(true, seeding);
  EXPECT_TRUE(text.starts_with("\r\x1b[K[1/27] seeding 340/1000, about ")) << text;
  EXPECT_TRUE(text.ends_with(" left" + trial + "\r\x1b[K")) << text;
}

TEST_F(ExperimentRun, ARecordThatCannotBeKeptEndsTheRun) {
  make(kRunConfig);
  int kept = 0;
  const RunResult result = run([&](const Record&) {
    if (++kept == 4) throw Error("the disk is full");
  });
  EXPECT_EQ(result.error, "the disk is full");
  EXPECT_EQ(kept, 4);
  EXPECT_EQ(result.records[0].size(), 1u);
  EXPECT_EQ(result.records[11].at(0).reason, "there is no device");
  EXPECT_EQ(result.records[10].at(0).reason, "not run");
}

TEST(ExperimentTable, BreaksWhatDoesNotFit) {
  Table table({{"n", true}, {"name", false}, {"what", false}});
  table.add({"1", "a name", "some words that go on and on"});
  table.add({"100"}, "a reason that takes more than one line, certainly");
  EXPECT_EQ(table.str(30),
            "  n  name    what\n"
            "------------------------------\n"
            "  1  a name  some words that\n"
            "             go on and on\n"
            "100  a reason that takes more\n"
            "     than one line, certainly\n");
}

TEST(ExperimentTable, CountsCharactersAndShowsNoControlCharacters) {
  EXPECT_EQ(text_width("±1%"), 3u);
  EXPECT_EQ(wrap("a\x1b[2Jb", 20), (std::vector<std::string>{"a?[2Jb"}));
  EXPECT_EQ(wrap("äöü", 2), (std::vector<std::string>{"äö", "ü"}));
}

}  // namespace
}  // namespace lloyd::experiment
