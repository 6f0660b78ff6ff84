// Runs that are interrupted repeatedly, and resumed from their records alone.
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "experiment/record/record_writer.hpp"
#include "experiment/run/resume.hpp"
#include "experiment/summary/summary.hpp"
#include "unit/support/experiment_fake_run.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::experiment {
namespace {

constexpr const char* kResumeConfig = R"(
experiment: fakes
dataset: {blobs: {samples: 200, features: 3, centers: 9}}
stop: {iterations: 4}
backends: [absent, sequential, limited, broken]
baseline: sequential
repeats: 3
sweep: {clusters: [8, 9]}
)";

class ExperimentResume : public testing::Test {
 protected:
  ExperimentResume() { plan_ = make(kResumeConfig); }

  Plan make(const std::string& text) { return fake::plan_of(text, datasets_); }
  std::filesystem::path file() const { return folder_.path() / "records.jsonl"; }

  /// Resumes the run in the file, or begins it, and ends it after `most` more records: by a stop
  /// request as SIGINT does, or, if `killed`, without the last records.
  RunResult go_on(std::size_t most, bool killed = false, bool retry_failed = false) {
    EarlierTrials earlier;
    if (std::filesystem::exists(file())) {
      std::optional<LastRun> last = find_last_run(read_records(file()).runs, plan_, {});
      EXPECT_TRUE(last.has_value());
      EXPECT_EQ(last->difference, "");
      EXPECT_EQ(last->id, "run");
      earlier = earlier_trials(std::move(last->records), retry_failed);
    }
    fake::Switch observer;
    InProcessRunner runner(plan_, datasets_, observer, "run", {});
    RecordWriter writer(file());
    std::size_t kept = 0;
    const auto keep = [&](const Record& record) {
      if (killed && kept == most) throw Error("killed");
      writer.append(record);
      observer.on = ++kept == most;
    };
    const auto stop = [&] { return observer.on; };
    return fake::run_quietly(plan_, runner, keep, stop, "run", std::move(earlier));
  }

  /// The number of outcomes of each trial in the file.
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, int> outcomes() const {
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, int> found;
    const std::string text = TemporaryFolder::read(file());
    for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
      const Record record =
          record_from_json(nlohmann::ordered_json::parse(text.substr(begin, end - begin)));
      if (record.status == TrialStatus::cancelled) continue;
      ++found[{record.plan.setting, record.plan.variant, record.repeat}];
    }
    return found;
  }

  TemporaryFolder folder_;
  DatasetCache datasets_;
  Plan plan_;
};

TEST_F(ExperimentResume, MakesEachTrialOnceHoweverOftenItIsInterrupted) {
  for (const bool killed : {false, true}) {
    for (const std::size_t most : {1u, 2u, 5u}) {
      std::filesystem::remove(file());
      int lives = 1;
      RunResult result = go_on(most, killed);
      while (result.cancelled || !result.error.empty()) {
        ASSERT_LT(++lives, 50);
        result = go_on(most, killed);
      }
      EXPECT_GT(lives, 3);
      const auto found = outcomes();
      // Absent twice and limited once; all others three times in two settings.
      EXPECT_EQ(found.size(), 3u + 5u * 3u);
      for (const auto& [trial, times] : found) EXPECT_EQ(times, 1);
      EXPECT_EQ(result.failed, 6) << "those of earlier lives too";
      const Summary made = summarize(result.records);
      const Summary read = summarize(read_records(file()).runs.at(0).fits);
      EXPECT_EQ(summary_table(read), summary_table(made));
      const DigestFile digests = digest_records(file());
      Summarizer summarizer(digests.runs.at(0).fixed_iterations);
      for (const FitDigest& fit : digests.runs[0].fits) summarizer.add(fit);
      EXPECT_EQ(summary_table(summarizer.finish()), summary_table(made));
      for (const SummaryRow& row : made.rows) {
        EXPECT_EQ(row.ok, row.backend == "sequential" || row.problem.empty() ? 3 : 0);
      }
    }
  }
}

TEST_F(ExperimentResume, FailuresAreMadeAgainOnDemand) {
  go_on(1000);
  EXPECT_EQ(outcomes().at({0, 3, 0}), 1);
  const RunResult again = go_on(1000, false, true);
  EXPECT_EQ(again.failed, 6);
  EXPECT_EQ(outcomes().at({0, 3, 0}), 2);
  EXPECT_EQ(outcomes().at({0, 1, 0}), 1);
  EXPECT_EQ(read_records(file()).runs.at(0).fits.at(3).size(), 3u) << "each counts once";
}

TEST_F(ExperimentResume, TrialsLeftAreThoseWithoutAnOutcome) {
  EXPECT_EQ(trials_left(plan_, {}), plan_.trials());
  EXPECT_EQ(variants_left(plan_, {}), (std::vector<bool>{false, true, true, true}));
  go_on(6);  // a skipped pair, and five trials, or four and one cancelled trial
  std::optional<LastRun> last = find_last_run(read_records(file()).runs, plan_, {});
  const std::int64_t done = static_cast<std::int64_t>(outcomes().size());
  const std::int64_t left = trials_left(plan_, earlier_trials(std::move(last->records), false));
  EXPECT_EQ(left + done, plan_.trials() + plan_.skipped());
}

TEST_F(ExperimentResume, ACompleteSettingGetsNoFurtherRounds) {
  // No interval becomes this narrow, so only the time ends a setting. On a busy machine the repeats
  // may use up a short time, hence the loop.
  for (double seconds = 0.05; outcomes().size() <= 3u + 5u * 3u; seconds *= 4) {
    ASSERT_LT(seconds, 100) << "no further round was made";
    std::filesystem::remove(file());
    plan_ = make(std::string(kResumeConfig) +
                 "until: {relative_error: 1.0e-9, max_seconds: " + std::to_string(seconds) + "}\n");
    go_on(100'000);
  }
  const std::string whole = TemporaryFolder::read(file());
  EXPECT_FALSE(go_on(100'000).cancelled);
  EXPECT_EQ(TemporaryFolder::read(file()), whole);
}

TEST_F(ExperimentResume, AFurtherRoundThatWasBegunIsFinished) {
  for (const bool killed : {false, true}) {
    std::filesystem::remove(file());
    plan_ = make(R"(
experiment: fakes
dataset: {blobs: {samples: 200, features: 3, centers: 9}}
backends: [sequential: {layout: [aos, soa]}, broken]
repeats: 3
until: {relative_error: 1.0e-9, max_seconds: 1000}
)");
    // Nine trials of the repeats, two further rounds, and one trial of a third.
    go_on(9 + 2 * 2 + 1, killed);
    std::optional<LastRun> last = find_last_run(read_records(file()).runs, plan_, {});
    const EarlierTrials earlier = earlier_trials(std::move(last->records), false);
    EXPECT_EQ(trials_left(plan_, earlier), 1);
    const std::vector<bool> left = variants_left(plan_, earlier);
    EXPECT_TRUE(left == (std::vector<bool>{true, false, false}) ||
                left == (std::vector<bool>{false, true, false}));
    const RunResult result = go_on(1000);
    EXPECT_FALSE(result.cancelled);
    EXPECT_EQ(outcomes().size(), 9u + 3u * 2u);
    EXPECT_EQ(summarize(result.records).rows.at(0).ok, 6);
    EXPECT_EQ(summarize(result.records).rows.at(1).ok, 6);
    last = find_last_run(read_records(file()).runs, plan_, {});
    const EarlierTrials all = earlier_trials(std::move(last->records), false);
    EXPECT_EQ(trials_left(plan_, all), 0);
    EXPECT_EQ(variants_left(plan_, all), std::vector<bool>(3));
  }
}

TEST_F(ExperimentResume, TheLastRunWithTheSamePlanIsTaken) {
  go_on(1000);
  const Plan other = make("{experiment: other, dataset: {blobs: {}}, backends: [sequential]}");
  EXPECT_FALSE(find_last_run(read_records(file()).runs, other, {}).has_value());
  std::string changed = kResumeConfig;
  changed.replace(changed.find("repeats: 3"), 10, "repeats: 2");
  EXPECT_EQ(find_last_run(read_records(file()).runs, make(changed), {})->difference,
            "'repeats' was 3 and is 2");
  // A run that was begun with two repeats and extended to three, with an older one of two.
  std::vector<RecordedRun> runs = read_records(file()).runs;
  runs.insert(runs.begin(), runs.front());
  runs.front().id = "older";
  runs.front().repeats = 2;
  for (RecordedRun& run : runs) {
    for (std::vector<Record>& fit : run.fits) {
      fit.front().plan.repeats = 2;
      fit.front().plan.hash = hash_with_repeats(plan_, 2);
    }
  }
  const std::optional<LastRun> extended = find_last_run(runs, make(changed), {});
  EXPECT_EQ(extended->id, "run");
  EXPECT_EQ(extended->difference, "");
  EXPECT_EQ(extended->repeats, 3);
  const std::optional<LastRun> refused =
      find_last_run(runs, make(changed), {}, ExtendedRepeats::refuse);
  EXPECT_EQ(refused->id, "run");
  EXPECT_EQ(refused->difference, "'repeats' was 3 and is 2");
  Machine machine;
  machine.cpu = "another processor";
  machine.memory_bytes = 1;
  EXPECT_EQ(find_last_run(read_records(file()).runs, plan_, machine)->difference,
            "'machine.cpu' was '' and is 'another processor'");
}

TEST_F(ExperimentResume, TextsThatAreNotPrintableAreStillTheSame) {
  plan_ = make(R"(
dataset: {blobs: {samples: 50}}
backends: [missing: {layout: "a\tb\u00ad"}, sequential]
optional: [missing]
repeats: 2
)");
  plan_.experiment = "soft\xc2\xadhyphen, no UTF-8: \xff, tab:\t";
  plan_.settings[0].setting.axes = {{"dataset.delimiter", "\t"}};
  Machine machine;
  machine.variables.emplace().emplace_back("OMP_SCHEDULE", "static\t");
  fake::Switch observer;
  InProcessRunner runner(plan_, datasets_, observer, "run", machine);
  {
    RecordWriter writer(file());
    fake::run_quietly(plan_, runner, [&](const Record& record) { writer.append(record); });
  }
  const std::optional<LastRun> last = find_last_run(read_records(file()).runs, plan_, machine);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->difference, "");
  machine.variables->back().second = "static\tx";
  EXPECT_EQ(find_last_run(read_records(file()).runs, plan_, machine)->difference,
            "'machine.environment.OMP_SCHEDULE' was 'static?' and is 'static?x'");
}

TEST_F(ExperimentResume, WhereTrialsRanIsComparedAndLimitsAreNot) {
  const auto difference = [&](const Isolation& before, const Isolation& now) {
    Record record = describe_trial(plan_, plan_.fits[1], 0, "run", {});
    record.isolation = before;
    plan_.isolation = now;
    return find_difference(record, plan_, {});
  };
  Isolation all;
  Isolation one;
  one.cpus = {0, 1};
  Isolation none;
  none.mode = IsolateMode::none;
  EXPECT_EQ(difference(all, none), "'isolate' was 'worker' and is 'none'");
  EXPECT_EQ(difference(one, all), "'cpus' was '0-1' and is not there");
  EXPECT_EQ(difference(all, one), "'cpus' was not there and is '0-1'");
  EXPECT_EQ(difference(one, one), "");
  Isolation limited = all;
  limited.timeout = 5;
  limited.memory_limit = 1 << 30;
  EXPECT_EQ(difference(all, limited), "");
  EXPECT_EQ(difference(limited, all), "");

  plan_.isolation = one;
  Record earlier = describe_trial(plan_, plan_.fits[1], 0, "run", {});
  earlier.isolation.reset();  // as written by an earlier version
  EXPECT_EQ(find_difference(earlier, plan_, {}), "");
}

}  // namespace
}  // namespace lloyd::experiment
