// The page of a report: data, parts, and escaping of texts.
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "experiment/run/trial.hpp"
#include "report/ceilings_file.hpp"
#include "report/page.hpp"
#include "report/page_data.hpp"
#include "unit/support/experiment_fake_run.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::report {
namespace {

using namespace experiment;
using nlohmann::ordered_json;

constexpr const char* kReportPageConfig = R"(
experiment: fakes
dataset: {blobs: {samples: 500, features: 3, centers: 9}}
stop: {iterations: 4}
backends: [sequential, openmp: {threads: [1, 2]}, broken, absent]
baseline: sequential
repeats: 3
sweep: {clusters: [7, 8]}
reference:
  - source: A paper
    quantity: speedup
    backend: absent
    values: [{clusters: 7, value: 12.5}, {clusters: 8, value: "about 40"}]
)";

RecordedRun run_fakes() {
  fake::Switch observer;
  DatasetCache datasets;
  const Plan plan = fake::plan_of(kReportPageConfig, datasets);
  InProcessRunner runner(plan, datasets, observer, "a run", {});
  RecordedRun run;
  run.id = "a run";
  run.planned = std::ssize(plan.fits);
  for (const PlannedFit& fit : plan.fits) {
    std::vector<Record>& records = run.fits.emplace_back();
    if (!fit.skip.empty()) records.push_back(describe_unrun(plan, fit, run.id, {}));
    for (std::int64_t r = 0; fit.skip.empty() && r < plan.repeats; ++r) {
      records.push_back(runner.run(fit, r));
    }
  }
  return run;
}

TEST(ReportPage, DataHasEverySampleAndWhatIsPublished) {
  const RecordedRun run = run_fakes();
  const ordered_json data = page_data(run, "records.jsonl", "", nullptr);
  EXPECT_EQ(data["experiment"], "fakes");
  EXPECT_EQ(data["baseline"], "sequential");
  EXPECT_TRUE(data["per_iteration"]);
  EXPECT_TRUE(data["ceilings"].is_null());
  ASSERT_EQ(data["axes"].size(), 1u);
  EXPECT_EQ(data["axes"][0]["header"], "clusters");
  ASSERT_EQ(data["rows"].size(), 10u);
  for (std::size_t r = 0; r < 10; ++r) {
    const ordered_json& row = data["rows"][r];
    const std::string backend = row["backend"];
    EXPECT_EQ(row["clusters"], r < 5 ? 7 : 8);
    if (backend == "absent") {
      EXPECT_EQ(row["problem"], "skipped: there is no device");
      EXPECT_EQ(row["published"][0]["value"],
                r < 5 ? ordered_json(12.5) : ordered_json("about 40"));
    } else if (backend == "broken") {
      EXPECT_EQ(row["trials"], 0);
      EXPECT_FALSE(row.contains("time"));
    } else {
      ASSERT_EQ(row["times"].size(), 3u);
      for (std::size_t i = 0; i < 3; ++i) {
        const Measurements& fit = *run.fits[r][i].fit;
        const double time = row["times"][i];
        EXPECT_NEAR(time, fit.loop_ms / static_cast<double>(fit.iterations), 1e-5 * time);
        EXPECT_LE(row["time"]["low"], time);
        EXPECT_GE(row["time"]["high"], time);
      }
      EXPECT_EQ(row["speedup"].is_null(), backend == "sequential");
    }
    if (backend.starts_with("openmp")) {
      EXPECT_LE(row["speedup"]["low"], row["speedup"]["value"]);
      EXPECT_GE(row["speedup"]["high"], row["speedup"]["value"]);
    }
  }
}

TEST(ReportPage, SharesOfPhasesAreThoseOfTheSummary) {
  RecordedRun run = run_fakes();
  const double loop_ms[] = {10, 100, 1000};
  const double assignment_ms[] = {9, 10, 500};
  for (std::size_t i = 0; i < 3; ++i) {
    Measurements& fit = *run.fits[0].at(i).fit;
    fit.loop_ms = loop_ms[i];
    fit.closing_ms = 0;
    fit.phases = {};
    fit.phases.assignment_ms = assignment_ms[i];
  }
  const ordered_json row = page_data(run, "records.jsonl", "", nullptr)["rows"][0];
  EXPECT_EQ(row["phases"]["shares"]["assignment"], 50);
  EXPECT_EQ(row["phases"]["shares"]["overhead"], 50);
  EXPECT_TRUE(row["phases"]["shares"]["update"].is_null());
}

TEST(ReportPage, RangeOfTheInertiaIsThatOfGoodTrials) {
  RecordedRun run = run_fakes();
  run.fits[0].at(0).fit->inertia = 3;
  run.fits[0].at(1).fit->inertia = 7;
  run.fits[0].at(2).fit->inertia = 100;
  run.fits[0].at(2).status = TrialStatus::failed;
  const ordered_json rows = page_data(run, "records.jsonl", "", nullptr)["rows"];
  EXPECT_EQ(rows[0]["inertia_range"], ordered_json({3.0, 7.0}));
  EXPECT_EQ(rows[1]["inertia_range"], ordered_json({rows[1]["inertia"], rows[1]["inertia"]}));
}

TEST(ReportPage, WithoutFilesItIsRefused) {
  EXPECT_EQ(message_of<InputError>([] { require_page({}); }),
            "this build has no HTML report, since D3 was not found when it was configured: install "
            "the package node-d3 and build Lloyd again");
}

// Tests of the page itself; skipped if the build has no D3.
class ReportPageFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (page_files().empty()) GTEST_SKIP() << "this build has no HTML report: D3 was not found";
  }
};

TEST_F(ReportPageFiles, TextsDoNotBecomeMarkup) {
  const ordered_json data = {{"a", "</script><script>alert(1)</script><!--"}, {"b", "\xff"}};
  const std::string json = script_json(data);
  EXPECT_EQ(json.find('<'), std::string::npos);
  EXPECT_EQ(ordered_json::parse(json)["a"], data["a"]) << "the escape means the same";
  EXPECT_EQ(escape_html("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");

  const std::string page = report_page("<b>{{data}}</b>", data);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_NE(page.find("<h1>&lt;b&gt;{{data}}&lt;/b&gt;</h1>"), std::string::npos)
      << "what is filled in is not filled in again";
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
}

TEST_F(ReportPageFiles, EveryFileIsAPartOfItOnce) {
  std::map<std::string, std::string> files;
  for (const PageFile& file : page_files()) files[std::string(file.name)] += file.text;
  EXPECT_GT(files.at("d3").size(), 200'000u);
  EXPECT_NE(files.at("d3-licence").find("Mike Bostock"), std::string::npos);
  const std::string frame = files.at("page.html");
  const std::string page = report_page("title", ordered_json::object());
  for (const auto& [name, text] : files) {
    if (name == "page.html") continue;
    const std::size_t at = frame.find("{{" + name + "}}");
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_EQ(frame.find("{{" + name + "}}", at + 1), std::string::npos) << name;
    EXPECT_NE(page.find(text), std::string::npos) << name;
    EXPECT_EQ(text.find("</script"), std::string::npos) << name;
  }
  EXPECT_EQ(files.at("d3-licence").find("-->"), std::string::npos) << "it stands in a comment";
}

TEST_F(ReportPageFiles, NothingOfItsOwnIsLoadedFromElsewhere) {
  for (const PageFile& file : page_files()) {
    if (file.name.starts_with("d3")) continue;
    for (const char* part : {"src=", "@import", "url(", "rel=\"stylesheet", "fetch(", "https:"}) {
      EXPECT_EQ(file.text.find(part), std::string_view::npos) << file.name << ": " << part;
    }
  }
}

TEST_F(ReportPageFiles, ReplaysBeyondAMegabyteAreLeftOutAndCounted) {
  RecordedRun run = run_fakes();
  Trace trace;
  trace.inertia.assign(1000, 2.0);
  trace.elapsed_ms.assign(1000, 1.0 / 3);
  trace.shift.assign(999, 1.0);
  Replay& replay = trace.replay.emplace();
  replay.points.assign(60'000, 1234);
  for (std::vector<Record>& records : run.fits) {
    records.back().trace = trace;
    records.back().plan.baseline.clear();  // its replay would replace the others of a setting
  }
  const ordered_json data = page_data(run, "records.jsonl", "", nullptr);
  EXPECT_EQ(data["replays"].size(), 3u);
  EXPECT_EQ(data["replays_left_out"], 7);
  EXPECT_EQ(data["replays"][2]["row"], 2);
  const ordered_json& shown = data["rows"][0]["trace"];
  EXPECT_EQ(shown["iteration"].size(), 120u);
  EXPECT_EQ(shown["iteration"][0], 0);
  EXPECT_EQ(shown["iteration"][119], 999);
  EXPECT_EQ(shown["elapsed_ms"][5], 0.333333);
  EXPECT_LT(report_page("title", data).size(), 3'000'000u);
}

TEST_F(ReportPageFiles, TheBaselinesReplayReplacesOthersOfItsSetting) {
  RecordedRun run = run_fakes();
  Trace trace;
  trace.inertia = {2.0, 1.0};
  trace.elapsed_ms = {1.0, 2.0};
  trace.shift = {1.0};
  trace.replay.emplace().points.assign(1'000, 1234);
  for (std::vector<Record>& records : run.fits) records.back().trace = trace;
  const ordered_json data = page_data(run, "records.jsonl", "", nullptr);
  for (const ordered_json& replay : data["replays"]) {
    EXPECT_EQ(data["rows"][replay["row"].get<std::size_t>()]["baseline"], true);
  }
  EXPECT_EQ(data["replays"].size(), 2u) << "one for each setting";
  EXPECT_EQ(data["replays_left_out"], 0);
}

TEST_F(ReportPageFiles, AReplayThatIsTooLargeLeavesRoomForOthers) {
  RecordedRun run = run_fakes();
  Trace trace;
  trace.inertia = {2.0, 1.0};
  trace.elapsed_ms = {1.0, 2.0};
  trace.shift = {1.0};
  Replay& replay = trace.replay.emplace();
  for (std::size_t r = 0; r < run.fits.size(); ++r) {
    replay.points.assign(r == 1 ? 300'000 : 1'000, 1234);
    run.fits[r].back().trace = trace;
    run.fits[r].back().plan.baseline.clear();
  }
  const ordered_json data = page_data(run, "records.jsonl", "", nullptr);
  EXPECT_EQ(data["replays_left_out"], 1);
  EXPECT_EQ(data["replays"].size(), run.fits.size() - 1);
  EXPECT_EQ(data["replays"][1]["row"], 2);
}

TEST(ReportCeilings, AreThoseOfTheDoctor) {
  const TemporaryFolder folder;
  const ordered_json rate = {{"one_thread", 10.5}, {"all_threads", 20}};
  const ordered_json doctor = {{"cpu", {{"model", "a processor"}}},
                               {"ceilings",
                                {{"instruction_set", "AVX2"},
                                 {"threads", 2},
                                 {"float32_gflops", rate},
                                 {"float64_gflops", rate},
                                 {"read_gbs", rate},
                                 {"triad_gbs", rate},
                                 {"buffer_bytes", 1}}}};
  const ordered_json read = read_ceilings(folder.write("doctor.json", doctor.dump()));
  EXPECT_EQ(read["cpu"], "a processor");
  EXPECT_EQ(read["read_gbs"], rate);
  const auto refusal = [&](const std::string& text) {
    const std::filesystem::path file = folder.write("bad.json", text);
    return message_of<InputError>([&] { read_ceilings(file); }).substr(file.string().size());
  };
  EXPECT_EQ(refusal("[]"), ": is not output of 'lloyd doctor --json'");
  EXPECT_EQ(refusal("{\"ceilings\": null}"),
            ": holds no ceilings: 'lloyd doctor --json' without --quick measures them");
  EXPECT_EQ(refusal("{}"), ": 'ceilings' is missing");
  ordered_json negative = doctor;
  negative["ceilings"]["read_gbs"]["one_thread"] = -1;
  EXPECT_EQ(refusal(negative.dump()), ": 'ceilings.read_gbs.one_thread' is -1, not a number >= 0");
}

}  // namespace
}  // namespace lloyd::report
