// Seeding of an experiment with the kernels of one of its backends.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "unit/support/experiment_fake_run.hpp"
#include "unit/support/seeding_fake_kernels.hpp"

namespace lloyd::experiment {
namespace {

// Its seeding takes more than kMinKernelSeedingWork.
constexpr const char* kSeedingConfig = R"(
experiment: seedings
dataset: {blobs: {samples: 3000, features: 64, centers: 9}}
clusters: 120
stop: {iterations: 1}
backends: [sequential, kernels]
repeats: 1
)";

std::shared_ptr<const LoadedBackend> load_with_kernels(std::string_view name) {
  if (name != "kernels") return fake::load(name);
  // Its file is named like a plugin, not like an external program.
  return std::make_shared<const LoadedBackend>("kernels.so", make_plugin_header("kernels", "1"),
                                               new StepBackend<fake::SeedingStep, fake::kInfo>,
                                               std::vector<DeviceInfo>(1), "");
}

class ExperimentSeeding : public testing::Test {
 protected:
  ~ExperimentSeeding() override { fake::FakeKernels::lie = nullptr; }

  // The records of both backends.
  std::vector<Record> run(const std::vector<std::string>& overrides = {}) {
    DatasetCache datasets;
    const Plan plan = make_plan(
        read_experiment(parse_config(kSeedingConfig, "c.yaml"), ".", "c", {overrides, {}}),
        load_with_kernels, datasets, {});
    fake::Switch observer;
    InProcessRunner runner(plan, datasets, observer, "run", {});
    std::vector<Record> records;
    const RunResult result =
        fake::run_quietly(plan, runner, [&](const Record& record) { records.push_back(record); });
    EXPECT_EQ(result.failed, 0);
    runner.finish([&](const std::string& note) { notes_.push_back(note); });
    return records;
  }

  std::vector<std::string> notes_;
};

TEST_F(ExperimentSeeding, UsesTheKernelsOfABackend) {
  fake::FakeKernels::calls = 0;
  const std::vector<Record> records = run();
  EXPECT_GT(fake::FakeKernels::calls, 0);
  ASSERT_EQ(records.size(), 2u);
  for (const Record& record : records) {
    EXPECT_EQ(record.seeding.backend, "kernels") << record.backend.name;
  }

  fake::FakeKernels::calls = 0;
  const std::vector<Record> core = run({"backends=[sequential]"});
  EXPECT_EQ(fake::FakeKernels::calls, 0);
  EXPECT_EQ(core.front().seeding.backend, "");
  EXPECT_EQ(core.front().after_one->inertia, records.front().after_one->inertia)
      << "the initial centroids must be the same";
  EXPECT_TRUE(notes_.empty());
}

TEST_F(ExperimentSeeding, TellsWhatRuns) {
  DatasetCache datasets;
  const Plan plan = make_plan(read_experiment(parse_config(kSeedingConfig, "c.yaml"), ".", "c"),
                              load_with_kernels, datasets, {});
  fake::Switch observer;
  InProcessRunner runner(plan, datasets, observer, "run", {});
  std::vector<std::string> stages;
  std::int64_t centroids = 0;
  runner.report_stages_to([&](std::string_view stage, std::int64_t done, std::int64_t total) {
    if (stages.empty() || stages.back() != stage) stages.emplace_back(stage);
    if (stage != "seeding with kernels") return;
    EXPECT_EQ(done, ++centroids);
    EXPECT_EQ(total, 120);
  });
  EXPECT_EQ(runner.run(plan.fits.front(), 0).status, TrialStatus::ok);
  EXPECT_EQ(centroids, 120);
  EXPECT_EQ(stages, (std::vector<std::string>{"generating data", "seeding with kernels", "",
                                              "checking the warm-up", "checking labels",
                                              "checking the result"}));
  const RunTimes& times = runner.times();
  for (const double ms : {times.fits, times.data, times.seeding, times.checks}) EXPECT_GT(ms, 0);
}

TEST_F(ExperimentSeeding, FallsBackIfTheKernelsFail) {
  const double expected = run().front().after_one->inertia;
  fake::FakeKernels::lie = [](fake::KernelAnswer& answer) { answer.squared_distances[3] = -1; };
  const std::vector<Record> records = run();
  ASSERT_EQ(records.size(), 2u);
  for (const Record& record : records) {
    EXPECT_EQ(record.seeding.backend, "");
    EXPECT_EQ(record.after_one->inertia, expected);
  }
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_EQ(notes_.front().find("seeding with kernels failed: kernels: its seeding kernels gave "
                                "sample 3 a squared distance of -1"),
            0u)
      << notes_.front();
}

TEST_F(ExperimentSeeding, SmallOnesUseNoKernels) {
  fake::FakeKernels::calls = 0;
  EXPECT_EQ(run({"clusters=3"}).front().seeding.backend, "");
  EXPECT_EQ(fake::FakeKernels::calls, 0);
}

TEST_F(ExperimentSeeding, OtherMethodsUseNoKernels) {
  fake::FakeKernels::calls = 0;
  EXPECT_EQ(run({"seeding=random"}).front().seeding.backend, "");
  EXPECT_EQ(fake::FakeKernels::calls, 0);
}

}  // namespace
}  // namespace lloyd::experiment
