// Relocation of empty clusters where the conformance suite cannot reach: streamed samples, and
// cancellation at any moment.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "backends.hpp"
#include "conformance/support/samples.hpp"
#include "conformance/support/trial.hpp"

namespace lloyd::gpu_tests {
namespace {

constexpr std::int64_t kSamples = 400'000;
constexpr std::int64_t kFeatures = 32;
constexpr std::int64_t kClusters = 300;
constexpr std::int64_t kEmpty = 40;

// Samples, and centroids of which the last kEmpty are far from all samples.
struct Problem {
  Problem() : dataset(clouds(kSamples, kFeatures, kClusters, 2)) {
    const auto* values = static_cast<const float*>(dataset.matrix().data);
    samples = {kSamples, kFeatures, {values, values + kSamples * kFeatures}};
    setting.clusters = kClusters;
    setting.centroids = conformance::first_rows(samples, kClusters);
    std::fill(setting.centroids.end() - kEmpty * kFeatures, setting.centroids.end(), 40.0);
    setting.max_iterations = 4;
    setting.fixed = true;
    setting.empty = EmptyClusters::relocate;
  }

  Dataset dataset;
  conformance::Samples samples;
  conformance::Setting setting;
};

// Stops at the given poll of stop_requested().
class StopsAtPoll : public Observer {
 public:
  explicit StopsAtPoll(std::int64_t poll) : left_(poll) {}
  bool on_iteration(const IterationRecord&) noexcept override { return true; }
  bool stop_requested() const noexcept override { return --left_ <= 0; }
  void* query(const char*) noexcept override { return nullptr; }

 private:
  mutable std::atomic<std::int64_t> left_;
};

class RelocationOf : public testing::TestWithParam<std::string> {};

TEST_P(RelocationOf, StreamedSamplesGiveTheBitsOfResidentOnes) {
  const Problem problem;
  const auto loaded = backend(GetParam());
  BackendSession resident(loaded, problem.dataset, loaded->default_parameters());
  ParameterSet limited = loaded->default_parameters();
  limited.set("memory_limit", "24");
  BackendSession streamed(loaded, problem.dataset, limited);
  for (const conformance::Run& run :
       {conformance::Run{0}, conformance::Run{kObserveInertia | kObserveCentroids},
        conformance::Run{conformance::kObserveAll, true}}) {
    SCOPED_TRACE(run.observe);
    const auto expected =
        conformance::run_fit(resident.session(), problem.samples, problem.setting, run);
    const auto got =
        conformance::run_fit(streamed.session(), problem.samples, problem.setting, run);
    ASSERT_TRUE(expected.status.ok() && got.status.ok()) << got.status.message;
    EXPECT_GE(expected.result.relocations, kEmpty);
    EXPECT_EQ(got.result.relocations, expected.result.relocations);
    EXPECT_EQ(got.centroids, expected.centroids);
    EXPECT_EQ(got.labels, expected.labels);
    EXPECT_EQ(got.counts, expected.counts);
    EXPECT_EQ(got.result.inertia, expected.result.inertia);
  }
  FitOptions options;
  options.clusters = kClusters;
  options.max_iterations = 1;
  const Fit fit = streamed.fit_from(problem.setting.centroids, options);
  EXPECT_NE(fit.notes.find("in batches"), std::string::npos) << fit.notes;
}

TEST_P(RelocationOf, IsCancelledAtAnyPoll) {
  Problem problem;
  const auto loaded = backend(GetParam());
  BackendSession session(loaded, problem.dataset, loaded->default_parameters());
  std::vector<std::vector<double>> expected = {problem.setting.centroids};
  conformance::Run run{0};
  for (std::int64_t iterations = 1; iterations <= 4; ++iterations) {
    problem.setting.max_iterations = iterations;
    expected.push_back(
        conformance::run_fit(session.session(), problem.samples, problem.setting, run).centroids);
  }
  for (const std::uint32_t observe : {std::uint32_t{0}, std::uint32_t{kObserveIterations}}) {
    run.observe = observe;
    for (const std::int64_t poll : {1, 2, 3, 4, 5, 8, 20, 50, 200, 1000}) {
      SCOPED_TRACE(std::to_string(observe) + " observed, poll " + std::to_string(poll));
      StopsAtPoll observer(poll);
      run.observer = &observer;
      const auto cut =
          conformance::run_fit(session.session(), problem.samples, problem.setting, run);
      if (cut.status.ok()) continue;  // it had finished before
      EXPECT_EQ(cut.status.code, StatusCode::cancelled);
      EXPECT_EQ(cut.centroids, expected[static_cast<std::size_t>(cut.result.iterations)]);
    }
  }
  run = conformance::Run{0};
  EXPECT_EQ(
      conformance::run_fit(session.session(), problem.samples, problem.setting, run).centroids,
      expected.back());
}

std::vector<std::string> relocating_backends() {
  std::vector<std::string> names;
  for (const std::string& name : cuda_backends()) {
    if (name != "cuda-hybrid") names.push_back(name);  // it updates on the host
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(, RelocationOf, testing::ValuesIn(relocating_backends()), test_name);

}  // namespace
}  // namespace lloyd::gpu_tests
