// Records: the JSON round trip, and a file that never keeps half a record.
#include <sys/resource.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "experiment/record/record.hpp"
#include "experiment/record/record_reader.hpp"
#include "experiment/record/record_writer.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::experiment {
namespace {

using nlohmann::ordered_json;

Record example() {
  Record record;
  record.experiment = "example";
  record.run = "2026-01-31T12:00:00Z-7";
  record.setting = "0123456789abcdef";
  record.axes = {{"clusters", "8"}, {"dataset.blobs.samples", "100"}};
  record.plan.setting = 1;
  record.plan.settings = 2;
  record.plan.variants = 3;
  record.plan.repeats = 5;
  record.plan.baseline = "sequential";
  record.plan.until = Until{0.02, 60};
  record.plan.order_seed = 9;
  record.plan.checks = Checks{50, 2.5};
  record.plan.silhouette = true;
  record.plan.counters = false;
  record.backend.name = "openmp";
  record.backend.label = "openmp threads=2";
  record.backend.version = "0.1.0";
  record.backend.parameters = {{"threads", 2}, {"layout", "soa"}};
  record.backend.accuracy = "exact";
  record.backend.reproducibility = "canonical";
  record.backend.devices = {"CPU"};
  record.dataset.name = "blobs";
  record.dataset.samples = 100;
  record.dataset.features = 2;
  record.dataset.dtype = "float32";
  record.dataset.fingerprint = "fedcba9876543210";
  record.dataset.source = {{"blobs", {{"samples", 100}}}};
  record.clusters = 8;
  record.seeding.method = "k-means++";
  record.seeding.seed = std::numeric_limits<std::uint64_t>::max();
  record.seeding.ms = 1.5;
  record.stop = {{"max_iterations", 30}, {"tolerance", 1e-4}};
  record.empty_clusters = "relocate";
  record.cold_l2 = true;
  record.isolation.emplace().timeout = 2.5;
  record.isolation->cpus = {0, 1, 3};
  record.repeat = 3;
  record.start_ms = 12.5;
  record.order = 11;
  Measurements& fit = record.fit.emplace();
  fit.iterations = 12;
  fit.stop_reason = "labels";
  fit.inertia = 0.1;
  fit.loop_ms = 3.25;
  fit.phases.assignment_ms = 2;
  fit.distances = 1;
  fit.clusters_empty = 2;
  fit.sum_form = "integer64";
  fit.notes = "centroids in constant memory";
  fit.check = ResultCheck{100, {3, 17, 1.25}};
  fit.adjusted_rand_index = 0.75;
  fit.simplified_silhouette = -0.5;
  fit.silhouette_samples = 99;
  fit.energy_j = 321.5;
  fit.counters = machine::CpuCounts{5000, 12000, {}, "cache misses: no such counter"};
  record.after_one = AfterOne{0.2, {0, -1, 1, 100}};
  record.seeding.backend = "openmp";
  record.memory.emplace().host_bytes = 4096;
  record.machine = {"a processor", 2, 1 << 20, "an OS", "a compiler", "0.1.0"};
  Machine& machine = record.machine;
  machine.physical_cores = 1;
  machine.sockets = 1;
  machine.cpu_quota = 1.5;
  machine.governor = "performance";
  machine.boost = false;
  machine.caches = {{1, "Data", 32 << 10, 2, 1}, {3, "Unified", 32 << 20, 1, 2}};
  machine.build_type = "Release";
  machine.flags = "-O3";
  machine.commit = "0123456789ab-dirty";
  machine.libraries = {std::pair("fmt", "9.1.0")};
  machine.variables.emplace().emplace_back("OMP_WAIT_POLICY", "passive");
  record.process = TrialProcess{3, {{"libgomp", "/lib/libgomp.so.1", 2}}};
  Conditions& conditions = record.conditions.emplace();
  conditions.before = {0.25, 1 << 19, 2596};
  conditions.gpu.emplace().name = "a GPU";
  conditions.gpu->before = {1980, 3201, 42, 123.5, std::vector<std::string>{"sw_power_cap"}};
  conditions.gpu->discarded = 2;
  record.ranks = 2;
  record.launcher = "srun -n {ranks}";
  record.rank_times = apps::RankTimes{{"node1", "node2"}, 3.5, 2.5, 0.25, 1.125};
  record.time = "2026-01-31T12:00:01Z";
  return record;
}

// Keys that are missing from records of earlier versions.
bool is_new(const std::string& path) {
  if (path.starts_with("machine.")) {
    const std::string inner = path.substr(path.find('.') + 1);
    for (const char* old : {"cpu", "cores", "memory_bytes", "os", "compiler", "lloyd"}) {
      if (inner == old) return false;
    }
    return true;
  }
  for (const char* key : {"published",
                          "notes",
                          "check",
                          "plan.hash",
                          "process",
                          "conditions",
                          "isolate",
                          "start_ms",
                          "order",
                          "plan.until",
                          "plan.order_seed",
                          "plan.checks",
                          "plan.silhouette",
                          "plan.counters",
                          "seeding.backend",
                          "checked_labels",
                          "clusters_empty",
                          "adjusted_rand_index",
                          "simplified_silhouette",
                          "silhouette_samples",
                          "counters",
                          "energy_j",
                          "ranks",
                          "launcher",
                          "hosts",
                          "cold_l2"}) {
    if (path == key) return true;
  }
  return false;
}

TEST(ExperimentRecord, ComesBackFromItsText) {
  const std::string text = to_json(example()).dump();
  EXPECT_EQ(to_json(record_from_json(ordered_json::parse(text))).dump(), text);

  Record silent = example();
  silent.fit->notes.clear();
  const std::string silent_text = to_json(silent).dump();
  EXPECT_NE(silent_text.find("\"notes\":null"), std::string::npos);
  EXPECT_EQ(to_json(record_from_json(ordered_json::parse(silent_text))).dump(), silent_text);

  Record parallel = example();
  parallel.seeding.method = "k-means||";
  parallel.seeding.oversampling = 0.5;
  parallel.seeding.rounds = 3;
  const ordered_json json = to_json(parallel);
  EXPECT_EQ(json.at("seeding").at("oversampling"), 0.5);
  EXPECT_EQ(json.at("seeding").at("rounds"), 3);
  EXPECT_EQ(to_json(record_from_json(json)).dump(), json.dump());

  Record skipped = example();
  skipped.status = TrialStatus::skipped;
  skipped.reason = "there is no device";
  skipped.fit.reset();
  skipped.after_one.reset();
  skipped.memory.reset();
  skipped.seeding.ms.reset();
  skipped.dataset.fingerprint.clear();
  const std::string skipped_text = to_json(skipped).dump();
  EXPECT_EQ(to_json(record_from_json(ordered_json::parse(skipped_text))).dump(), skipped_text);
}

// Version 0.1.0 called the exact fallbacks "redecided".
TEST(ExperimentRecord, ReadsExactFallbacksUnderTheirEarlierKey) {
  Record record = example();
  for (const std::int64_t fallbacks : {-1, 0, 9}) {
    record.fit->exact_fallbacks = fallbacks;
    const ordered_json json = to_json(record);
    ordered_json earlier = json;
    earlier.erase("exact_fallbacks");
    earlier["redecided"] = json.at("exact_fallbacks");
    EXPECT_EQ(record_from_json(earlier).fit->exact_fallbacks, fallbacks);
    EXPECT_EQ(to_json(record_from_json(earlier)).dump(), json.dump());

    ordered_json neither = json;
    neither.erase("exact_fallbacks");
    EXPECT_EQ(message_of<InputError>([&] { record_from_json(neither); }),
              "'exact_fallbacks' is missing");
  }
}

TEST(ExperimentRecord, MissingKeysOfEarlierVersionsAreUnknown) {
  const ordered_json whole = to_json(example());
  ordered_json json = whole;
  json.erase("process");
  json.erase("conditions");
  for (const auto& [key, value] : whole.at("machine").items()) {
    if (is_new("machine." + key)) json["machine"].erase(key);
  }
  ASSERT_EQ(json["machine"].size(), 6u);
  const Record record = record_from_json(json);
  EXPECT_FALSE(record.process);
  EXPECT_FALSE(record.conditions);
  EXPECT_FALSE(record.machine.variables);
  const ordered_json machine = to_json(record).at("machine");
  for (const auto& [key, value] : machine.items()) {
    if (is_new("machine." + key)) {
      EXPECT_TRUE(value.is_null()) << key;
    }
  }
}

TEST(ExperimentRecord, KeysAreTheSameWhateverTheOutcome) {
  Record failed = example();
  failed.status = TrialStatus::failed;
  failed.fit.reset();
  failed.after_one.reset();
  const ordered_json ok = to_json(example());
  const ordered_json without = to_json(failed);
  ASSERT_EQ(ok.size(), without.size());
  for (auto a = ok.begin(), b = without.begin(); a != ok.end(); ++a, ++b) {
    EXPECT_EQ(a.key(), b.key());
  }
  EXPECT_EQ(without.at("status"), "failed");
  EXPECT_TRUE(without.at("inertia").is_null());
}

TEST(ExperimentRecord, NumbersThatJsonLacksBecomeNull) {
  Record record = example();
  record.fit->inertia = std::numeric_limits<double>::quiet_NaN();
  record.after_one->labels.worst_ratio = std::numeric_limits<double>::infinity();
  const ordered_json json = to_json(record);
  EXPECT_TRUE(json.at("inertia").is_null());
  EXPECT_TRUE(json.at("worst_ratio").is_null());
  EXPECT_TRUE(ordered_json::accept(json.dump()));
}

std::string refusal(const ordered_json& json) {
  return message_of<InputError>([&] { record_from_json(json); });
}

TEST(ExperimentRecord, AnotherSchemaIsRefused) {
  ordered_json json = to_json(example());
  json["schema"] = 2;
  EXPECT_EQ(refusal(json), "the record has schema 2; this program reads schema 1");
  EXPECT_EQ(refusal({{"schema", 1}}), "'experiment' is missing");
  EXPECT_EQ(refusal(ordered_json::array()), "the line is a list, not an object");
}

TEST(ExperimentRecord, EveryKeyIsNeededAndOthersArePassedOver) {
  const ordered_json whole = to_json(example());
  for (const auto& [key, value] : whole.items()) {
    ordered_json json = whole;
    json.erase(key);
    if (is_new(key)) {
      EXPECT_EQ(refusal(json), "(nothing was thrown)") << key;
      continue;
    }
    EXPECT_EQ(refusal(json), "'" + key + "' is missing");
    for (const auto& [inner, inner_value] : value.items()) {
      // The inner keys of these vary from record to record.
      if (!value.is_object() || key == "axes" || key == "phase_ms" || is_new(key)) continue;
      json = whole;
      json[key].erase(inner);
      if (is_new(key + "." + inner)) {
        EXPECT_EQ(refusal(json), "(nothing was thrown)");
        continue;
      }
      EXPECT_EQ(refusal(json), "'" + key + "." + inner + "' is missing");
    }
  }
  ordered_json more = whole;
  more["later"] = {{"a", 1}};
  more["backend"]["later"] = 2;
  EXPECT_EQ(to_json(record_from_json(more)), whole);
}

TEST(ExperimentRecord, RepeatsEndWhereNothingSaysUntil) {
  ordered_json json = to_json(example());
  json["repeat"] = 500;
  EXPECT_EQ(refusal(json), "(nothing was thrown)");
  for (const bool erase : {false, true}) {
    json["plan"]["until"] = nullptr;
    if (erase) json["plan"].erase("until");
    EXPECT_EQ(refusal(json), "'repeat' is 500, not an integer from 0 to 4");
  }
}

TEST(ExperimentRecord, WrongTypesAndValuesOutOfRangeAreRefused) {
  const auto with = [](const std::string& pointer, const ordered_json& value) {
    ordered_json json = to_json(example());
    json[ordered_json::json_pointer(pointer)] = value;
    return refusal(json);
  };
  EXPECT_EQ(with("/dataset/samples", 0), "'dataset.samples' is 0, not an integer >= 1");
  EXPECT_EQ(with("/clusters", 8.0), "'clusters' is 8.0, not an integer >= 1");
  EXPECT_EQ(with("/clusters", 9223372036854775808u),
            "'clusters' is 9223372036854775808, not an integer >= 1");
  EXPECT_EQ(with("/plan/variant", 3), "'plan.variant' is 3, not an integer from 0 to 2");
  EXPECT_EQ(with("/order", -1), "'order' is -1, not an integer >= 0");
  EXPECT_EQ(with("/plan/order_seed", -1),
            "'plan.order_seed' is -1, not an integer from 0 to 18446744073709551615");
  EXPECT_EQ(with("/plan/until", 1), "'plan.until' is 1, not an object");
  EXPECT_EQ(with("/setting", "0123"), "'setting' is '0123', not 16 hexadecimal digits");
  EXPECT_EQ(with("/axes/clusters", 8), "'axes.clusters' is 8, not a text");
  EXPECT_EQ(with("/machine", "a processor"), "'machine' is 'a processor', not an object");
  EXPECT_EQ(with("/backend/devices", {1}),
            "'backend.devices' is a list with 1 in it, not a list of texts");
  EXPECT_EQ(with("/loop_ms", -1), "'loop_ms' is -1, not a number >= 0");
  EXPECT_EQ(with("/adjusted_rand_index", 1e300),
            "'adjusted_rand_index' is 1e+300, not a number from -1 to 1");
  EXPECT_EQ(with("/simplified_silhouette", -1.5),
            "'simplified_silhouette' is -1.5, not a number >= -1");
  EXPECT_EQ(with("/counters/cycles", -1), "'counters.cycles' is -1, not an integer >= 0");
  EXPECT_EQ(with("/cold_l2", 1), "'cold_l2' is 1, not true or false");
  EXPECT_EQ(with("/energy_j", -1), "'energy_j' is -1, not a number >= 0");
  EXPECT_EQ(with("/notes", 1), "'notes' is 1, not a text");
  EXPECT_EQ(with("/stop", {{"tolerance", 1}}), "'stop.max_iterations' is missing");
  EXPECT_EQ(with("/machine/sockets", 0), "'machine.sockets' is 0, not an integer >= 1");
  EXPECT_EQ(with("/machine/boost", "on"), "'machine.boost' is 'on', not true or false");
  EXPECT_EQ(with("/machine/caches/0/level", 99),
            "'machine.caches.level' is 99, not an integer from 1 to 9");
  EXPECT_EQ(with("/machine/environment", {1}), "'machine.environment' is a list, not an object");
  EXPECT_EQ(with("/process/openmp/0/path", 1), "'process.openmp.path' is 1, not a text");
  EXPECT_EQ(with("/conditions/before/load", -1),
            "'conditions.before.load' is -1, not a number >= 0");
  EXPECT_EQ(with("/conditions/gpu/after/throttle", "hot"),
            "'conditions.gpu.after.throttle' is 'hot', not a list of texts");
  EXPECT_EQ(with("/wrong_labels", 101), "'wrong_labels' is 101, not an integer from 0 to 100");
  EXPECT_EQ(with("/iterations", nullptr), "'iterations' is null, not a number, as 'status' is ok");
  EXPECT_EQ(with("/status", "off\nline"),
            "unknown status 'off?line' (known: ok, skipped, failed, timed out, cancelled)");
  EXPECT_EQ(with("/isolate", "workr"), "unknown isolation 'workr' (did you mean 'worker'?)");
  EXPECT_EQ(with("/timeout", "long"), "'timeout' is 'long', not a number >= 0");
  EXPECT_EQ(with("/memory_limit", 0), "'memory_limit' is 0, not an integer >= 1");
  EXPECT_EQ(with("/cpus", "0-"), "'cpus' is '0-', not a text such as 0-3,8");
  EXPECT_EQ(with("/start_ms", -1), "'start_ms' is -1, not a number >= 0");
  EXPECT_EQ(with("/backend/accuracy", "exakt"), "unknown accuracy 'exakt' (did you mean 'exact'?)");
}

class ExperimentWriter : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "records.jsonl"; }
  std::string content() const { return TemporaryFolder::read(file()); }

  TemporaryFolder folder_;
  const std::string line_ = to_json(example()).dump() + '\n';
};

TEST_F(ExperimentWriter, AppendsLines) {
  RecordWriter(file()).append(example());
  RecordWriter writer(file());
  writer.append(example());
  EXPECT_EQ(writer.note(), "");
  EXPECT_EQ(content(), line_ + line_);
}

TEST_F(ExperimentWriter, CutsOffAnIncompleteRecord) {
  // Longer than the block in which the end of the last record is searched.
  const std::string half = line_.substr(0, line_.size() / 2) + std::string(10'000, 'x');
  folder_.write("records.jsonl", line_ + half);
  RecordWriter writer(file());
  EXPECT_EQ(writer.note(), file().string() + ": cut off an incomplete last record of " +
                               std::to_string(half.size()) +
                               " bytes, left by a run that was killed");
  EXPECT_EQ(content(), line_);
  writer.append(example());
  EXPECT_EQ(content(), line_ + line_);
}

TEST_F(ExperimentWriter, KeepsAWholeRecordWithoutItsLineFeed) {
  folder_.write("records.jsonl", line_.substr(0, line_.size() - 1));
  RecordWriter writer(file());
  EXPECT_EQ(writer.note(), "");
  EXPECT_EQ(content(), line_);
}

TEST_F(ExperimentWriter, AFileWithNothingButAPieceBecomesEmpty) {
  folder_.write("records.jsonl", "{\"schema\":1,\"exp");
  RecordWriter writer(file());
  EXPECT_NE(writer.note(), "");
  EXPECT_EQ(content(), "");
}

TEST_F(ExperimentWriter, TwoWritersAreRefused) {
  RecordWriter writer(file());
  EXPECT_EQ(message_of<InputError>([&] { RecordWriter second(file()); }),
            "another run is writing to " + folder_.path().string() +
                ": wait until it ends, or give another folder with --output");
}

TEST_F(ExperimentWriter, AFileThatCannotBeOpenedIsNamed) {
  const std::string path = (folder_.path() / "none" / "records.jsonl").string();
  EXPECT_EQ(message_of<InputError>([&] { RecordWriter writer(path); }),
            "cannot open " + path + ": No such file or directory");
}

// A record whose line has this many bytes, without the newline.
Record record_of_bytes(std::size_t bytes) {
  Record record = example();
  const std::size_t rest = record_line(record).size() - 1 - record.experiment.size();
  record.experiment.assign(bytes - rest, 'x');
  return record;
}

TEST_F(ExperimentWriter, ARecordThatNobodyWouldReadIsNotWritten) {
  RecordWriter writer(file());
  const Record longer = record_of_bytes(kMaxRecordBytes + 1);
  EXPECT_EQ(message_of<Error>([&] { writer.append(longer); }),
            "cannot append a record to " + file().string() +
                ": it takes 67108865 bytes, and a record is read up to 64 MiB only");
  EXPECT_EQ(content(), "");
}

TEST_F(ExperimentWriter, TheLongestRecordThatIsReadIsWritten) {
  constexpr std::size_t kBytes = kMaxRecordBytes;
  if (std::filesystem::space(file().parent_path()).available < 2 * kBytes) {
    GTEST_SKIP() << "the folder of temporary files has no space for a record of 64 MiB";
  }
  RecordWriter writer(file());
  writer.append(record_of_bytes(kBytes));
  EXPECT_EQ(digest_records(file(), {}).runs.size(), 1u);
}

TEST_F(ExperimentWriter, AFullDiskLeavesNoHalfRecord) {
  RecordWriter writer(file());
  writer.append(example());

  // A file size limit stands in for a full disk: it truncates the write in the same way.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit = before;
  limit.rlim_cur = line_.size() + line_.size() / 2;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const std::string message = message_of<Error>([&] { writer.append(example()); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);

  EXPECT_EQ(message, "cannot append a record to " + file().string() + ": no space is left");
  EXPECT_EQ(content(), line_);
  writer.append(example());
  EXPECT_EQ(content(), line_ + line_);
}

}  // namespace
}  // namespace lloyd::experiment
