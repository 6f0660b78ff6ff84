// From a configuration to settings and variants.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "experiment/config/config.hpp"
#include "experiment/config/variants.hpp"
#include "unit/support/experiment_fake_backend.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::experiment {
namespace {

Experiment parse(const std::string& text) {
  return read_experiment(parse_config(text, "c.yaml"), "/data", "c");
}

TEST(ExperimentConfig, MissingKeysTakeTheDefaults) {
  const Experiment experiment = parse("{dataset: {blobs: {}}, backends: [sequential]}");
  EXPECT_EQ(experiment.name, "c");
  EXPECT_EQ(experiment.output, "results/c");
  EXPECT_EQ(experiment.repeats, 5);
  EXPECT_FALSE(experiment.until);
  EXPECT_EQ(experiment.checks.samples, 0) << "all";
  EXPECT_EQ(experiment.checks.seconds, 10);
  EXPECT_FALSE(experiment.silhouette);
  EXPECT_FALSE(experiment.counters);
  EXPECT_TRUE(experiment.repeat_throttled);
  EXPECT_EQ(experiment.order_seed, 0u);
  EXPECT_FALSE(experiment.baseline);
  ASSERT_EQ(experiment.settings.size(), 1u);
  const FitOptions& options = experiment.settings[0].options;
  EXPECT_EQ(options.clusters, 8);
  EXPECT_EQ(options.seeding.method, SeedingMethod::kmeans_plus_plus);
  EXPECT_EQ(options.max_iterations, 300);
  EXPECT_EQ(options.tolerance, 1e-4);
  EXPECT_EQ(options.restarts, 1);
  EXPECT_FALSE(options.fixed_iterations);
  EXPECT_FALSE(options.profile);
}

TEST(ExperimentConfig, KeysThatMendTablesAreRead) {
  const auto read = [](const std::string& keys) {
    return parse("dataset: {file: p.csv, " + keys + "}\nbackends: [sequential]\n")
        .settings.at(0)
        .dataset;
  };
  const DatasetSetting setting =
      read("drop_columns: [0, id], drop_missing: true, decimal_comma: true, thousands: '.'");
  EXPECT_EQ(setting.csv.drop_columns, (std::vector<std::string>{"0", "id"}));
  EXPECT_TRUE(setting.csv.drop_missing);
  EXPECT_TRUE(setting.csv.decimal_comma);
  EXPECT_EQ(setting.csv.thousands, '.');
  // Each belongs to the key of the cache of data sets.
  const std::string plain = read("dtype: float32").key();
  for (const char* keys :
       {"drop_columns: [0]", "drop_missing: true", "decimal_comma: true", "thousands: ','"}) {
    EXPECT_NE(read(keys).key(), plain) << keys;
  }
}

TEST(ExperimentConfig, EveryKeyIsRead) {
  const Experiment experiment = parse(R"(
experiment: all
dataset: {file: points.tsv, delimiter: "\t", header: false, columns: [0, 2], label_column: 3,
          dtype: float64}
clusters: 5
seeding: {method: random, seed: 18446744073709551615}
restarts: 3
stop: {iterations: 12}
empty_clusters: keep
profile: true
backends: [sequential, {openmp: {threads: 2}}]
baseline: {openmp: {threads: 2}}
repeats: 7
until: {relative_error: 0.01, max_seconds: 5}
checks: {samples: 5000, seconds: 2.5}
silhouette: true
counters: true
repeat_throttled: false
order_seed: 3
output: there
)");
  EXPECT_EQ(experiment.name, "all");
  EXPECT_EQ(experiment.output, "there");
  EXPECT_EQ(experiment.repeats, 7);
  EXPECT_EQ(experiment.until, (Until{0.01, 5}));
  EXPECT_EQ(experiment.checks.samples, 5000);
  EXPECT_EQ(experiment.checks.seconds, 2.5);
  EXPECT_TRUE(experiment.silhouette);
  EXPECT_TRUE(experiment.counters);
  EXPECT_FALSE(experiment.repeat_throttled);
  EXPECT_EQ(experiment.order_seed, 3u);
  const Setting& setting = experiment.settings.at(0);
  EXPECT_EQ(setting.dataset.file, "/data/points.tsv");
  EXPECT_EQ(setting.dataset.csv.delimiter, '\t');
  EXPECT_EQ(setting.dataset.csv.header, false);
  EXPECT_EQ(setting.dataset.csv.columns, (std::vector<std::string>{"0", "2"}));
  EXPECT_EQ(setting.dataset.csv.label_column, "3");
  EXPECT_EQ(setting.dataset.csv.dtype, DType::float64);
  EXPECT_EQ(setting.options.clusters, 5);
  EXPECT_EQ(setting.options.seeding.method, SeedingMethod::random);
  EXPECT_EQ(setting.options.seeding.seed, 18446744073709551615u);
  EXPECT_EQ(setting.options.restarts, 3);
  EXPECT_TRUE(setting.options.fixed_iterations);
  EXPECT_EQ(setting.options.max_iterations, 12);
  EXPECT_EQ(setting.options.empty_clusters, EmptyClusters::keep);
  EXPECT_TRUE(setting.options.profile);
}

TEST(ExperimentConfig, OptionsOfTheSeedingAreReadAndSwept) {
  const Experiment experiment = parse(R"(
dataset: {blobs: {samples: 7}}
seeding: {method: k-means||, oversampling: 0.5, rounds: 3, seed: 1}
backends: [sequential]
sweep:
  seeding.rounds: [4, 5]
)");
  for (const Setting& setting : experiment.settings) {
    EXPECT_EQ(setting.options.seeding.method, SeedingMethod::kmeans_parallel);
    EXPECT_EQ(setting.options.seeding.oversampling, 0.5);
    EXPECT_EQ(std::to_string(setting.options.seeding.rounds), setting.axes.at(0).value);
  }
  const Seeding defaults = parse(
                               "{dataset: {blobs: {}}, backends: [sequential], "
                               "seeding: k-means||}")
                               .settings.at(0)
                               .options.seeding;
  EXPECT_EQ(defaults.method, SeedingMethod::kmeans_parallel);
  EXPECT_EQ(defaults.oversampling, Seeding().oversampling);
  EXPECT_EQ(defaults.rounds, 5);
}

TEST(ExperimentConfig, SweepIsAProductAndTheLastAxisVariesFastest) {
  const Experiment experiment = parse(R"(
dataset: {blobs: {samples: 7}}
seeding: first
backends: [sequential]
sweep:
  clusters: [2, 3]
  seeding.seed: [4, 5]
)");
  std::vector<std::pair<std::int64_t, std::uint64_t>> found;
  for (const Setting& setting : experiment.settings) {
    EXPECT_EQ(setting.options.seeding.method, SeedingMethod::first);
    EXPECT_EQ(setting.axes.at(0).path, "clusters");
    EXPECT_EQ(setting.axes.at(0).value, std::to_string(setting.options.clusters));
    found.emplace_back(setting.options.clusters, setting.options.seeding.seed);
  }
  EXPECT_EQ(found, (decltype(found){{2, 4}, {2, 5}, {3, 4}, {3, 5}}));
}

TEST(ExperimentConfig, TheCentersOfBlobsMayBeTheNumberOfClusters) {
  const Experiment experiment = parse(R"(
clusters: centers
backends: [sequential]
sweep: {dataset.blobs: [{samples: 70, centers: 3}, {samples: 80, centers: 5}]}
)");
  EXPECT_EQ(experiment.settings.at(0).options.clusters, 3);
  EXPECT_EQ(experiment.settings.at(1).options.clusters, 5);
  EXPECT_EQ(message_of<InputError>([] {
              parse("{dataset: {file: a.csv}, clusters: centers, backends: [sequential]}");
            }),
            "c.yaml:1:36: 'clusters: centers' needs 'dataset.blobs'; 'dataset' is a file");
}

TEST(ExperimentConfig, AFileWhoseNameNamesNoFolderNeedsAnOutput) {
  const std::string config = "{dataset: {blobs: {}}, backends: [sequential]";
  const auto read = [&](const std::string& more, const std::string& name) {
    return read_experiment(parse_config(config + more + "}", "c.yaml"), ".", name);
  };
  for (const char* name : {".", ".."}) {
    EXPECT_EQ(message_of<InputError>([&] { read("", name); }),
              "c.yaml:1:1: 'experiment' must not be '.' or '..' nor hold '/' unless 'output' is "
              "given");
    EXPECT_EQ(read(", output: there", name).output, "there");
  }
  EXPECT_EQ(read("", "...").output, "results/...");
}

TEST(ExperimentConfig, SettingsWithOneDatasetFollowEachOther) {
  const Experiment experiment = parse(R"(
dataset: {blobs: {}}
backends: [sequential]
sweep:
  clusters: [2, 3]
  dataset.blobs.samples: [100, 200]
)");
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (const Setting& setting : experiment.settings) {
    found.emplace_back(setting.dataset.blobs->samples, setting.options.clusters);
  }
  EXPECT_EQ(found, (decltype(found){{100, 2}, {100, 3}, {200, 2}, {200, 3}}));
}

TEST(ExperimentConfig, AnAxisMayHoldMapsAndCompleteTheDataset) {
  const Experiment experiment = parse(R"(
dataset: {dtype: float64}
backends: [sequential]
sweep:
  dataset.blobs: [{samples: 10}, {samples: 20, features: 3}]
  seeding: [random, {method: k-means++, seed: 1}]
)");
  ASSERT_EQ(experiment.settings.size(), 4u);
  EXPECT_EQ(experiment.settings[3].dataset.blobs->features, 3);
  EXPECT_EQ(experiment.settings[3].dataset.blobs->dtype, DType::float64);
  EXPECT_EQ(experiment.settings[3].axes.at(0).value, "{samples: 20, features: 3}");
  EXPECT_EQ(experiment.settings[2].options.seeding.method, SeedingMethod::random);
  EXPECT_EQ(experiment.settings[3].options.seeding.seed, 1u);
}

TEST(ExperimentConfig, AnchorsAreValues) {
  const Experiment experiment = parse(R"(
dataset: {blobs: &small {samples: 10}}
backends: [sequential]
sweep: {dataset.blobs: [*small, {samples: 11}]}
)");
  EXPECT_EQ(experiment.settings.at(0).dataset.blobs->samples, 10);
}

TEST(ExperimentConfig, AnchorsInsideEachOtherAreCounted) {
  std::string text;
  for (int line = 0; line < 60; ++line) {
    text += fmt::format("k{}: ", line);
    for (int i = 0; i < 63; ++i) text += fmt::format("&a{} [", i);
    text += std::string(63, ']') + "\n";
  }
  EXPECT_EQ(message_of<InputError>([&] { parse_config(text, "c.yaml"); }),
            "c.yaml:50:80: there are more than 100000 values with anchors");
}

TEST(ExperimentConfig, LongKeysAreRefused) {
  const std::string key(1100, 'k');
  const auto refusal = [](const std::string& text) {
    return message_of<InputError>([&] { parse(text); });
  };
  EXPECT_EQ(refusal("{" + key + ": 1}\n"),
            "c.yaml:1:2: a key must be a text of at most 1024 bytes");
  EXPECT_TRUE(refusal(key + ": 1\n").ends_with("; a key may have at most 1024 bytes"));
  EXPECT_TRUE(refusal("a: b: c\n").ends_with(" in quotes"));
}

TEST(ExperimentConfig, AnEntryOfMoreParametersThanARecordTakesIsRefused) {
  std::string parameters = "p0: 1";
  for (int i = 1; i < 1000; ++i) parameters += ", p" + std::to_string(i) + ": 1";
  const auto config = [&] { return "dataset: {blobs: {}}\nbackends: [x: {" + parameters + "}]\n"; };
  EXPECT_EQ(parse(config()).backends.front().parameters.size(), 1000u);
  parameters += ", p1000: 1";
  EXPECT_EQ(message_of<InputError>([&] { parse(config()); }),
            "c.yaml:2:15: 'x' has 1001 parameters; at most 1000 are allowed");
}

TEST(ExperimentConfig, LongSweepPathsAreRefused) {
  std::string path = "dataset";
  for (int i = 0; i < 300'000; ++i) path += ".a";
  EXPECT_EQ(
      message_of<InputError>([&] {
        parse("dataset: {blobs: {}}\nbackends: [sequential]\nsweep:\n  ? " + path + "\n  : [1]\n");
      }),
      "c.yaml:4:5: the path of an axis has more than 8 parts");
}

TEST(ExperimentConfig, SettingsThatAreTheSameAreRefused) {
  const auto refusal = [](const std::string& sweep) {
    return message_of<InputError>(
        [&] { parse("dataset: {blobs: {}}\nbackends: [sequential]\nsweep: {" + sweep + "}\n"); });
  };
  EXPECT_EQ(
      refusal("stop.tolerance: [1e-3, 0.001]"),
      "c.yaml:3:32: the axis 'stop.tolerance' gives the same setting with 0.001 as with 1e-3");
  EXPECT_EQ(
      refusal("clusters: [2, 3], dataset.blobs: [{std: 9}, {std: 8}, {std: 9.0}]"),
      "c.yaml:3:63: the axis 'dataset.blobs' gives the same setting with {std: 9.0} as with {std: "
      "9}");
  EXPECT_EQ(refusal("seeding.seed: [18446744073709551614, 18446744073709551615]"),
            "(nothing was thrown)");
}

std::vector<std::string> labels(const std::vector<Variant>& variants) {
  std::vector<std::string> result;
  for (const Variant& variant : variants) result.push_back(variant.label);
  return result;
}

TEST(ExperimentVariants, ListsAreAxesAndLabelsNameWhatVaries) {
  const Experiment experiment = parse(R"(
dataset: {blobs: {}}
backends:
  - sequential
  - openmp: {threads: [1, 2], layout: aos}
  - openmp: {threads: 4, layout: aos}
baseline: {openmp: {threads: 2}}
)");
  const std::vector<Variant> variants = make_variants(experiment.backends, fake::load);
  EXPECT_EQ(labels(variants), (std::vector<std::string>{"sequential", "openmp threads=1",
                                                        "openmp threads=2", "openmp threads=4"}));
  EXPECT_EQ(variants[1].parameters.text("layout"), "aos");
  EXPECT_EQ(find_baseline(*experiment.baseline, variants), 2u);
}

}  // namespace
}  // namespace lloyd::experiment
