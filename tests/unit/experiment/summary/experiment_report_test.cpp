// Files of records: reading and summaries match those of the run that wrote them.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/shell_word.hpp>

#include "experiment/record/record_reader.hpp"
#include "experiment/record/record_writer.hpp"
#include "experiment/summary/summary.hpp"
#include "text/csv_text.hpp"
#include "unit/support/experiment_fake_run.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::experiment {
namespace {

using nlohmann::ordered_json;

constexpr const char* kReportConfig = R"(
experiment: fakes
dataset: {blobs: {samples: 500, features: 3, centers: 9}}
stop: {iterations: 4}
backends: [absent, openmp: {threads: [1, 2]}, sequential, limited, broken]
baseline: sequential
repeats: 3
sweep: {clusters: [9, 8], seeding.seed: [1, 2]}
)";

class ExperimentReport : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "records.jsonl"; }

  // Runs, writes the records to the file, and returns the summary. Interrupted after `most`
  // records.
  Summary run(const std::string& id, std::size_t most = 1000,
              const std::string& config = kReportConfig) {
    DatasetCache datasets;
    const Plan plan = fake::plan_of(config, datasets);
    fake::Switch observer;
    InProcessRunner runner(plan, datasets, observer, id, {});
    RecordWriter writer(file());
    std::size_t kept = 0;
    const auto keep = [&](const Record& record) {
      writer.append(record);
      observer.on = observer.on || ++kept == most;
    };
    const auto stop = [] { return false; };
    return summarize(fake::run_quietly(plan, runner, keep, stop, id).records);
  }

  static void expect_same(const Summary& read, const Summary& made) {
    EXPECT_EQ(summary_table(read), summary_table(made));
    EXPECT_EQ(summary_csv(read), summary_csv(made));
    EXPECT_EQ(summary_json(read, "folder"), summary_json(made, "folder"));
  }

  // Compares the summaries computed from the records and from their digests.
  void expect_summaries(const std::filesystem::path& records,
                        const std::vector<Summary>& made) const {
    const RecordFile read = read_records(records);
    DigestFile digested = digest_records(records);
    EXPECT_EQ(digested.note, read.note);
    ASSERT_EQ(read.runs.size(), made.size());
    ASSERT_EQ(digested.runs.size(), made.size());
    for (std::size_t r = 0; r < made.size(); ++r) {
      const DigestedRun& run = digested.runs[r];
      EXPECT_EQ(run.id, read.runs[r].id);
      EXPECT_EQ(run.planned, read.runs[r].planned);
      Summarizer summarizer(run.fixed_iterations);
      for (const FitDigest& fit : run.fits) summarizer.add(fit);
      expect_same(summarizer.finish(), made[r]);
      expect_same(summarize(read.runs[r].fits), made[r]);
    }
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> result;
    std::string text = TemporaryFolder::read(file());
    for (std::size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
      result.push_back(text.substr(0, end + 1));
    }
    return result;
  }

  std::string refusal(const std::string& text) const {
    const std::string path = folder_.write("bad.jsonl", text);
    const std::string message = message_of<InputError>([&] { read_records(path); });
    return message.starts_with(path) ? message.substr(path.size()) : message;
  }

  TemporaryFolder folder_;
};

TEST_F(ExperimentReport, IsTheSummaryOfTheRun) {
  const Summary made = run("a");
  const RecordFile records = read_records(file());
  ASSERT_EQ(records.runs.size(), 1u);
  EXPECT_EQ(records.note, "");
  EXPECT_EQ(records.runs[0].id, "a");
  EXPECT_EQ(records.runs[0].planned, 24);
  EXPECT_EQ(records.runs[0].fits.size(), 24u);
  expect_summaries(file(), {made});
  const std::string table = summary_table(made);
  for (const char* part : {"skipped: there is no device", "failed: broken: the device is on fire",
                           "skipped: at most 8 clusters, not 9", "baseline"}) {
    EXPECT_NE(table.find(part), std::string::npos) << part;
  }
}

TEST_F(ExperimentReport, IsTheSummaryOfARunThatWasInterrupted) {
  int interrupted = 0;
  std::vector<Summary> all;
  for (const std::size_t most : {1u, 3u, 4u, 5u, 19u}) {
    const std::string id = "after " + std::to_string(most);
    const Summary made = run(id, most);
    const RecordFile records = read_records(file());
    EXPECT_EQ(records.runs.back().id, id);
    EXPECT_EQ(records.runs.back().fits.size(), 24u);
    all.push_back(made);
    expect_summaries(file(), all);
    const std::string table = summary_table(made);
    // After a failed trial, the next one is begun and cancelled if a variant follows.
    interrupted += table.find("cancelled: interrupted") != std::string::npos;
    EXPECT_NE(table.find("cancelled: not run"), std::string::npos) << table;
  }
  EXPECT_GE(interrupted, 2);
}

TEST_F(ExperimentReport, RunsOfOneFileAreKeptApart) {
  const Summary a = run("a");
  const Summary b = run("b", 1000, "{dataset: {blobs: {samples: 50}}, backends: [sequential]}");
  const RecordFile records = read_records(file());
  ASSERT_EQ(records.runs.size(), 2u);
  expect_summaries(file(), {a, b});
  EXPECT_EQ(records.runs[1].id, "b");
}

TEST_F(ExperimentReport, AHalfLastLineIsPassedOver) {
  run("a");
  const std::vector<std::string> all = lines();
  const auto second = std::find_if(all.begin(), all.end(), [](const std::string& line) {
    return ordered_json::parse(line).at("backend").at("name") == "openmp";
  });
  ASSERT_NE(second, all.end());
  const std::string path = folder_.write("half.jsonl", all[0] + *second + all[3].substr(0, 100));
  const RecordFile records = read_records(path);
  EXPECT_EQ(records.note, path + ":3: passed over an incomplete last record of 100 bytes");
  EXPECT_EQ(records.runs.at(0).fits.size(), 2u);
  EXPECT_EQ(records.runs.at(0).planned, 24);
  // A baseline without records counts as missing.
  EXPECT_EQ(summarize(records.runs[0].fits).rows.at(1).comparison->text,
            "no baseline: it left no record");
  // Complete except for the line feed.
  const std::string whole =
      folder_.write("whole.jsonl", all[0] + all[1].substr(0, all[1].size() - 1));
  EXPECT_EQ(read_records(whole).runs.at(0).fits.size(), 2u);
  EXPECT_EQ(read_records(whole).note, "");
}

TEST_F(ExperimentReport, BadLinesAreNamed) {
  run("a");
  const std::vector<std::string> all = lines();
  const auto changed = [&](std::size_t line, const std::string& pointer,
                           const ordered_json& value) {
    ordered_json json = ordered_json::parse(all[line]);
    json[ordered_json::json_pointer(pointer)] = value;
    return json.dump() + "\n";
  };
  EXPECT_EQ(refusal(""), ": holds no records");
  EXPECT_EQ(refusal("{\"schema\":1,\"experiment\":\"half"), ": holds no records");
  EXPECT_TRUE(refusal("{\"half").starts_with(":1: it is not JSON: it ends after "))
      << "of others, not of a record";
  const std::string remedy =
      "; sed -i 2d " + shell_word((folder_.path() / "bad.jsonl").string()) + " removes the line";
  EXPECT_EQ(refusal(all[0] + "x\n" + all[1]),
            ":2: it is not JSON: unexpected 'x' at byte 1" + remedy);
  EXPECT_EQ(refusal(all[0] + "\n" + all[1]), ":2: it is not JSON: it is empty" + remedy);
  EXPECT_EQ(refusal(all[0] + "{\"schema\": 1, \"schema\": 1}\n"),
            ":2: it has the key 'schema' twice");
  const std::string long_key(100'000, 'k');
  EXPECT_EQ(refusal("{\"" + long_key + "\": 1, \"" + long_key + "\": 1}\n"),
            ":1: it has the key '" + long_key.substr(0, 40) + "...' twice");
  const auto with_keys = [&](int keys) {
    ordered_json json = ordered_json::parse(all[0]);
    ordered_json& parameters = json["backend"]["parameters"];
    while (std::ssize(parameters) < keys) parameters[std::to_string(parameters.size())] = "0";
    return json.dump() + "\n";
  };
  EXPECT_EQ(refusal(with_keys(1025)),
            ":1: it has an object of 1025 keys; at most 1024 are allowed");
  folder_.write("keys.jsonl", with_keys(1024) + all[1]);
  EXPECT_EQ(read_records(folder_.path() / "keys.jsonl").runs.size(), 1u);
  EXPECT_EQ(refusal(std::string(100'000, '[') + std::string(100'000, ']') + "\n"),
            ":1: it is nested more than 16 levels deep");
  EXPECT_EQ(refusal(all[0] + changed(1, "/schema", 2)),
            ":2: the record has schema 2; this program reads schema 1");
  EXPECT_EQ(refusal(changed(1, "/clusters", 0)), ":1: 'clusters' is 0, not an integer >= 1");
  EXPECT_EQ(refusal(all[0] + all[1] + all[0]),
            ":3: the run 'a' has a second record of setting 0, variant 0, repeat 0");
  EXPECT_EQ(
      refusal(all[0] + changed(1, "/plan/variants", 9)),
      ":2: the record is of the run 'a', as line 1 is, but has another experiment, plan or axes");
  EXPECT_EQ(message_of<InputError>([&] { read_records(folder_.path() / "none"); }),
            (folder_.path() / "none").string() + ": cannot be opened: No such file or directory");
}

TEST(ExperimentCsv, CellsAreQuotedAndPrintable) {
  EXPECT_EQ(csv_text({{{"a,b", 1}, {"c\n", "d \x1b[2J\r\n\x7f \"e\""}, {"f", nullptr}},
                      {{"a,b", 2.5}, {"c\n", "\xc3\xa4"}, {"f", true}}}),
            "\"a,b\",c?,f\n"
            "1,\"d ?[2J??? \"\"e\"\"\",\n"
            "2.5,\xc3\xa4,true\n");
}

TEST_F(ExperimentReport, RepeatsOfOneFitMustAgree) {
  run("a");
  std::vector<std::string> all = lines();
  const auto other = std::find_if(all.begin(), all.end(), [](const std::string& line) {
    return ordered_json::parse(line).at("repeat") == 1;
  });
  ASSERT_NE(other, all.end());
  ordered_json json = ordered_json::parse(*other);
  json["backend"]["label"] = "else";
  std::string text;
  for (auto line = all.begin(); line != other; ++line) text += *line;
  EXPECT_NE(refusal(text + json.dump() + "\n").find("with another hash, label"), std::string::npos);
}

TEST_F(ExperimentReport, OfATrialTheLastOutcomeCounts) {
  const std::string config =
      "{experiment: e, dataset: {blobs: {samples: 50}}, backends: [sequential], repeats: 3}";
  run("a", 1000, config);
  const std::vector<std::string> ok = lines();
  const auto as = [](const std::string& line, const char* status, int repeat) {
    ordered_json json = ordered_json::parse(line);
    json["status"] = status;
    json["reason"] = "a reason";
    json["repeat"] = repeat;
    return json.dump() + "\n";
  };
  const auto read = [this](const std::string& text) {
    std::vector<std::string> found;
    const RecordFile file = read_records(folder_.write("r", text));
    for (const Record& record : file.runs.at(0).fits.at(0)) {
      found.push_back(std::string(to_string(record.status)) + " " + std::to_string(record.repeat));
    }
    return found;
  };
  using Found = std::vector<std::string>;
  const std::string not_run = as(ok[0], "cancelled", 0);
  EXPECT_EQ(read(not_run), (Found{"cancelled 0"}));
  EXPECT_EQ(read(not_run + ok[0]), (Found{"ok 0"}));
  EXPECT_EQ(read(not_run + ok[2]), (Found{"ok 2"})) << "it stands for all trials to come";
  EXPECT_EQ(read(not_run + not_run + ok[1] + ok[0]), (Found{"ok 1", "ok 0"}));
  EXPECT_EQ(read(ok[0] + as(ok[1], "cancelled", 1)), (Found{"ok 0", "cancelled 1"}));
  EXPECT_EQ(read(ok[0] + as(ok[1], "failed", 1) + ok[2] + ok[1]), (Found{"ok 0", "ok 2", "ok 1"}));
  EXPECT_EQ(read(as(ok[1], "failed", 1) + as(ok[1], "failed", 1)), (Found{"failed 1"}));
  EXPECT_EQ(refusal(ok[0] + ok[1] + as(ok[1], "failed", 1)),
            ":3: the run 'a' has a second record of setting 0, variant 0, repeat 1");
}

}  // namespace
}  // namespace lloyd::experiment
