// Published values beside measured ones; optional backends; overrides.
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "experiment/plan/plan.hpp"
#include "experiment/summary/plan_text.hpp"
#include "experiment/summary/summary.hpp"
#include "unit/support/experiment_fake_run.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::experiment {
namespace {

using nlohmann::ordered_json;

constexpr const char* kReferenceConfig = R"(
dataset: {blobs: {samples: 100}}
backends: [sequential, absent, missing: {split: [false, true]}, openmp]
optional: [missing]
baseline: sequential
sweep: {clusters: [2, 3], seeding.seed: [1, 2]}
reference:
  - source: "paper A, Table 1"
    quantity: speedup
    backend: {missing: {split: true}}
    values:
      - {clusters: 2, seeding.seed: 1, value: 0.808}
      - {clusters: 3, value: "about 9"}
  - {source: paper B, quantity: speedup, backend: absent, values: [{clusters: 2, value: 123}]}
  - {source: paper B, backend: absent, note: the larger the better}
)";

Plan plan_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  DatasetCache datasets;
  return fake::plan_of(text, datasets, {}, overrides);
}

// The published values by setting and variant as texts; "" if there is none.
std::vector<std::string> published_values(const Plan& plan) {
  std::vector<std::string> values;
  for (const PlannedFit& fit : plan.fits) {
    std::string text;
    for (const Published& published : fit.published) {
      if (published.number) text += ordered_json(*published.number).dump();
      text += published.text;
    }
    values.push_back(text);
  }
  return values;
}

// The records of a run that was cancelled before its first trial, after a round trip through their
// texts.
std::vector<std::vector<Record>> records_of(const Plan& plan) {
  std::vector<std::vector<Record>> records;
  for (const PlannedFit& fit : plan.fits) {
    const std::string text = to_json(describe_unrun(plan, fit, "run", {})).dump();
    records.push_back({record_from_json(ordered_json::parse(text))});
  }
  return records;
}

TEST(ExperimentReference, ValuesBelongToTheirSettingsAndVariants) {
  const Plan plan = plan_of(kReferenceConfig);
  // By clusters and seed: sequential, absent, missing (false, true), openmp.
  EXPECT_EQ(published_values(plan), (std::vector<std::string>{
                                        "", "123.0", "", "0.808",   "",  //
                                        "", "123.0", "", "",        "",  //
                                        "", "",      "", "about 9", "",  //
                                        "", "",      "", "about 9", "",
                                    }));
  EXPECT_EQ(plan_json(plan)["fits"][3]["published"][0],
            (ordered_json{{"quantity", "speedup"},
                          {"value", 0.808},
                          {"source", "paper A, Table 1"},
                          {"note", nullptr}}));
}

TEST(ExperimentReference, WithoutABackendASpeedupIsOfAllButTheBaseline) {
  const Plan plan = plan_of(R"(
dataset: {blobs: {samples: 100}}
backends: [openmp, sequential, absent]
baseline: sequential
reference:
  - {source: a, quantity: speedup, values: [{value: 2}]}
  - {source: a, quantity: ms_per_fit, values: [{value: 7}]}
)");
  EXPECT_EQ(published_values(plan), (std::vector<std::string>{"2.07.0", "7.0", "2.07.0"}));
}

TEST(ExperimentReference, SummaryHasTheColumnAndItsSources) {
  const Summary summary = summarize(records_of(plan_of(kReferenceConfig)));
  const std::string table = summary_table(summary);
  EXPECT_NE(table.find("  published\n"), std::string::npos) << table;
  EXPECT_NE(table.find("skipped: no plugin of this name can be loaded"), std::string::npos);
  for (const char* end : {" 0.808\n", " about 9\n", " 123\n"}) {
    EXPECT_NE(table.find(end), std::string::npos) << end << table;
  }
  EXPECT_NE(table.find("published speedup: paper A, Table 1\n"), std::string::npos) << table;
  EXPECT_NE(table.find("published: paper B: the larger the better\n"), std::string::npos) << table;
  const std::string csv = summary_csv(summary);
  EXPECT_NE(csv.find(",published_speedup,published_speedup_source,problem\n"), std::string::npos);
  EXPECT_NE(csv.find(",0.808,\"paper A, Table 1\",skipped: "), std::string::npos) << csv;
  const ordered_json json = summary_json(summary, "folder");
  EXPECT_EQ(json["published"].size(), 3u);
  EXPECT_EQ(json["rows"][3]["published_speedup"], 0.808);
  EXPECT_EQ(json["rows"][13]["published_speedup"], "about 9");
  EXPECT_TRUE(json["rows"][0]["published_speedup"].is_null());
  EXPECT_TRUE(json["rows"][3]["accuracy"].is_null());
}

TEST(ExperimentReference, OtherQuantitiesAreNamedInTheHeader) {
  const Summary summary = summarize(records_of(plan_of(R"(
dataset: {blobs: {samples: 100}}
backends: [absent]
profile: true
reference:
  - {source: a, quantity: ms_per_iteration, values: [{value: 2}]}
  - {source: a, quantity: update_ms_per_iteration, values: [{value: 3}]}
)")));
  const std::string table = summary_table(summary);
  EXPECT_NE(table.find("  published ms/iteration\n"), std::string::npos) << table;
  EXPECT_NE(table.find("  published update\n"), std::string::npos) << table;
}

TEST(ExperimentReference, RecordsOfEarlierVersionsHaveNone) {
  ordered_json json = to_json(records_of(plan_of(kReferenceConfig))[3][0]);
  EXPECT_EQ(record_from_json(json).published.size(), 1u);
  json.erase("published");
  EXPECT_TRUE(record_from_json(json).published.empty());
  const auto refusal = [&](const ordered_json& published) {
    json["published"] = published;
    return message_of<InputError>([&] { record_from_json(json); });
  };
  EXPECT_EQ(refusal(1), "'published' is 1, not a list");
  EXPECT_EQ(refusal({{{"quantity", "speedup"}}}), "'published.value' is missing");
  EXPECT_EQ(refusal({{{"quantity", "speed"}}}),
            "unknown quantity 'speed' (did you mean 'speedup'?)");
}

TEST(ExperimentOptional, AMissingPluginIsSkippedAndSaysWhy) {
  const Plan plan = plan_of(kReferenceConfig);
  EXPECT_EQ(missing_backends(plan),
            (std::vector<std::string>{
                "missing is optional and skipped: unknown backend 'missing' (known: sequential, "
                "openmp, limited, broken, absent)"}));
  EXPECT_EQ(plan.fit(0, 2).skip, "no plugin of this name can be loaded");
  EXPECT_EQ(plan.variants[3].label, "missing split=true");
  EXPECT_TRUE(message_of<InputError>([&] {
                require_all(plan);
              }).starts_with("12 of 20 fits would be skipped"));
  EXPECT_TRUE(missing_backends(plan_of("{dataset: {blobs: {}}, backends: [absent], "
                                       "optional: [absent]}"))
                  .empty());
  // If the backend is not optional, the run is refused.
  const std::string refusal =
      message_of<InputError>([] { plan_of("{dataset: {blobs: {}}, backends: [missing]}"); });
  EXPECT_TRUE(refusal.starts_with("c.yaml:1:35: unknown backend 'missing'")) << refusal;
}

TEST(ExperimentOptional, AMissingBaselineLeavesNoSpeedup) {
  Plan plan = plan_of(R"(
dataset: {blobs: {samples: 100}}
backends: [missing: {split: [false, true]}, sequential]
optional: [missing]
baseline: {missing: {split: true}}
)");
  EXPECT_EQ(plan.baseline, 1u);
}

TEST(ExperimentOverrides, ReplaceKeysAndAxes) {
  const Plan plan = plan_of(kReferenceConfig, {"clusters=[3, 4]", "seeding.seed=2",
                                               "dataset.blobs.samples=50", "stop={iterations: 2}",
                                               "backends=[sequential, missing: {split: [true]}]"});
  ASSERT_EQ(plan.settings.size(), 2u);
  EXPECT_EQ(plan.settings[1].setting.options.clusters, 4);
  EXPECT_EQ(plan.settings[1].setting.options.seeding.seed, 2u);
  EXPECT_EQ(plan.settings[1].dataset.samples, 50);
  EXPECT_EQ(plan.settings[1].setting.options.max_iterations, 2);
  // References name the file's axes and backends; some remain after the overrides.
  EXPECT_EQ(published_values(plan), (std::vector<std::string>{"", "about 9", "", ""}));
}

TEST(ExperimentOverrides, ReplaceAnAxisBelowOneThatItCompletes) {
  const std::string config = R"(
dataset: {blobs: {samples: 100}}
clusters: 2
backends: [sequential]
sweep: {seeding: [random, k-means++], seeding.seed: [1, 2]}
)";
  const Plan plan = plan_of(config, {"seeding.seed=3"});
  ASSERT_EQ(plan.settings.size(), 2u);
  for (const auto& planned : plan.settings) {
    EXPECT_EQ(planned.setting.options.seeding.seed, 3u);
  }
  EXPECT_EQ(
      message_of<InputError>([&] { plan_of(config, {"seeding.rounds=3"}); }),
      "--set seeding.rounds:1:1: the axis 'seeding' would overwrite 'seeding.rounds'; --sweep "
      "'seeding.rounds=[3]' sets it for every value of that axis");
}

TEST(ExperimentOverrides, RemoveTheOnlyAxis) {
  const std::string config =
      "{dataset: {blobs: {samples: 100}}, backends: [sequential], sweep: {clusters: [4, 16]}}";
  const Plan by_default = plan_of(config, {"clusters="});
  ASSERT_EQ(by_default.settings.size(), 1u);
  EXPECT_EQ(by_default.settings[0].setting.options.clusters, 8);
  const Plan replaced = plan_of(config, {"clusters=", "clusters=5"});
  ASSERT_EQ(replaced.settings.size(), 1u);
  EXPECT_EQ(replaced.settings[0].setting.options.clusters, 5);
}

TEST(ExperimentOverrides, NoneIsWithoutEffect) {
  const std::string config = R"(
dataset: {file: a.csv}
clusters: 2
backends: [sequential]
sweep: {dataset: [{file: a.csv}, {file: b.csv}], seeding.seed: [1, 2]}
)";
  const auto read = [&](const Overrides& overrides) {
    return read_experiment(parse_config(config, "e.yaml"), "", "e", overrides, "").settings;
  };
  const auto refusal = [&](const Overrides& overrides) {
    return message_of<InputError>([&] { read(overrides); });
  };
  EXPECT_EQ(refusal({{"dataset.samples=100"}, {}}),
            "--set dataset.samples:1:1: the axis 'dataset' would overwrite 'dataset.samples'; "
            "--sweep 'dataset.samples=[100]' sets it for every value of that axis");
  const std::vector<Setting> sampled = read({{}, {"dataset.samples=[100]"}});
  ASSERT_EQ(sampled.size(), 4u);
  for (const Setting& setting : sampled) EXPECT_EQ(setting.dataset.sampling.samples, 100);
  EXPECT_EQ(
      refusal({{"seeding={method: random, seed: 7}"}, {}}),
      "--set seeding:1:1: the axis 'seeding.seed' would overwrite the value of 'seeding.seed' in "
      "this map; leave it out here, or replace the axis: --set seeding.seed=VALUE");
  EXPECT_EQ(read({{"seeding=random"}, {}}).size(), 4u);
  EXPECT_EQ(refusal({{"stop.max_iterations=3"}, {"stop=[{max_iterations: 4}]"}}),
            "--set stop.max_iterations:1:1: the axis 'stop' would overwrite 'stop.max_iterations'; "
            "--sweep 'stop.max_iterations=[3]' sets it for every value of that axis");
  EXPECT_EQ(refusal({{"stop.max_iterations=3", "stop={tolerance: 0}"}, {}}),
            "--set stop:1:1: 'stop' would overwrite 'stop.max_iterations', which is set before it; "
            "give 'stop' first");
  EXPECT_EQ(read({{"stop={tolerance: 0}", "stop.max_iterations=3"}, {}}).size(), 4u);
}

TEST(ExperimentOverrides, WrongOnesAreRefused) {
  const auto refusal = [](const std::string& text) {
    return message_of<InputError>([&] { plan_of(kReferenceConfig, {text}); });
  };
  EXPECT_EQ(refusal("clusters"), "--set takes KEY=VALUE, such as clusters=8, not 'clusters'");
  EXPECT_EQ(refusal("=3"), "--set takes KEY=VALUE, such as clusters=8, not '=3'");
  EXPECT_EQ(refusal("cluster=3"),
            "--set cluster:1:1: 'cluster' cannot be set (did you mean 'clusters'?)");
  EXPECT_EQ(refusal("datset.blobs.samples=3"),
            "--set datset.blobs.samples:1:1: 'datset' cannot be set (did you mean 'dataset'?)");
  EXPECT_EQ(refusal("sweep.clusters=[3]"),
            "--set sweep.clusters:1:1: 'sweep' cannot be set; --sweep KEY=LIST adds an axis or "
            "replaces its values");
  EXPECT_EQ(refusal("backends.openmp.threads=2"),
            "--set backends.openmp.threads:1:1: 'backends' is a list that is set as a whole, "
            "as in 'backends=[openmp: {threads: 2}]'");
  EXPECT_EQ(refusal("clusters=8,16"),
            "--set clusters:1:1: 'clusters' is '8,16'; a list is written in brackets: "
            "clusters=[8,16]");
  EXPECT_EQ(refusal("repeats=3"),
            "--set repeats:1:1: 'repeats' cannot be set; the option --repeats does it");
  EXPECT_EQ(refusal("output=x"),
            "--set output:1:1: 'output' cannot be set; the option --output does it");
  EXPECT_EQ(refusal("restarts="),
            "--set restarts:1:1: 'restarts' has no value, and the file has no such key to "
            "remove");
  EXPECT_EQ(refusal("restarts=x"),
            "--set restarts:1:1: 'restarts' must be an integer from 1 to 1000000, not 'x'");
  EXPECT_EQ(refusal("clusters=[1, 200]"),
            "--set clusters:1:5: 'clusters' is 200, but blobs has 100 samples");
  EXPECT_EQ(refusal("clusters.k=1"),
            "--set clusters.k:1:1: the axis 'clusters' would overwrite 'clusters.k'");
  EXPECT_EQ(refusal("dataset.blobs.sample=1"),
            "--set dataset.blobs.sample:1:1: unknown key 'sample' in 'dataset.blobs' (did you mean "
            "'samples'?)");
  EXPECT_EQ(refusal("dataset.a.b.c.d.e.f.g.h=1"),
            "--set dataset.a.b.c.d.e.f.g.h:1:1: the key has more than 8 parts");
}

}  // namespace
}  // namespace lloyd::experiment
