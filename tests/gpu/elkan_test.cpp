// cuda-elkan prunes distances and gives the same bits as a fit that computes all of them.
#include <gtest/gtest.h>

#include <atomic>

#include <lloyd/data/blobs.hpp>

#include "backends.hpp"
#include "conformance/support/comparisons.hpp"
#include "conformance/support/samples.hpp"
#include "conformance/support/trial.hpp"

namespace lloyd::gpu_tests {
namespace {

Fit fit(const Dataset& dataset, const std::string& name, std::int64_t clusters,
        std::int64_t iterations, const std::string& memory_limit = "0") {
  const auto loaded = backend(name);
  ParameterSet parameters = loaded->default_parameters();
  if (memory_limit != "0") parameters.set("memory_limit", memory_limit);
  BackendSession session(loaded, dataset, parameters);
  FitOptions options;
  options.clusters = clusters;
  options.max_iterations = iterations;
  options.fixed_iterations = true;
  Seeding seeding;
  seeding.method = SeedingMethod::random;
  seeding.seed = 1;
  return session.fit_from(seed_centroids(dataset, clusters, seeding), options);
}

void expect_same_bits(const Fit& expected, const Fit& got) {
  EXPECT_EQ(got.centroids, expected.centroids);
  EXPECT_EQ(got.labels, expected.labels);
  EXPECT_EQ(got.counts, expected.counts);
  EXPECT_EQ(got.result.inertia, expected.result.inertia);
}

TEST(Elkan, HasTheBitsOfTheReferenceAtEachIteration) {
  const auto loaded = backend("cuda-elkan");
  const ParameterSet parameters = loaded->default_parameters();
  struct Shape {
    std::int64_t n, d, k;
    bool separated;
  };
  for (const auto& [n, d, k, separated] :
       {Shape{100'000, 32, 64, true}, Shape{100'000, 32, 64, false}, Shape{50'000, 3, 17, false},
        Shape{20'000, 100, 33, false}, Shape{30'000, 1, 50, false}}) {
    const auto samples = conformance::rounded(
        separated ? conformance::blobs(n, d, k, 3.0, 5) : conformance::cloud(n, d, 6),
        DType::float32);
    const Dataset dataset = conformance::make_dataset(samples, DType::float32);
    conformance::Setting setting;
    setting.clusters = k;
    setting.centroids = conformance::first_rows(samples, k);
    setting.max_iterations = 12;
    BackendSession session(loaded, dataset, parameters);
    const conformance::Trial trial = conformance::run_fit(session.session(), samples, setting);
    try {
      conformance::expect_reference_bits("elkan", samples, setting, trial);
    } catch (const conformance::CaseFailed& failed) {
      ADD_FAILURE() << n << " x " << d << ", k = " << k << ": " << failed.message;
    }
  }
}

TEST(Elkan, LabelsAMillionSamplesWithoutAnError) {
  const Dataset dataset = make_blobs(
      {.samples = 1'000'000, .features = 32, .centers = 512, .std = 1, .box = 10, .seed = 1});
  const Fit found = fit(dataset, "cuda-elkan", 512, 30);
  EXPECT_EQ(wrong_labels(dataset, found.centroids, 512, found.labels), 0);
  const double all = 1e6 * 512 * 31;
  EXPECT_LT(static_cast<double>(found.result.distances), all / 4);
  RecordProperty("distances", std::to_string(static_cast<double>(found.result.distances) / all));
  std::printf("distances computed: %.4f of n x k x 31\n",
              static_cast<double>(found.result.distances) / all);
}

TEST(Elkan, HasTheSameBitsWithinAMemoryLimit) {
  const Dataset dataset = clouds(400'000, 32, 300, 2);
  const auto loaded = backend("cuda-elkan");
  FitOptions options;
  options.clusters = 300;
  options.max_iterations = 12;
  options.fixed_iterations = true;
  const MemoryEstimate estimate =
      estimate_memory(*loaded, make_shape(dataset, 300), loaded->default_parameters(),
                      make_spec(options, dataset.mean_variance()));
  const Fit free = fit(dataset, "cuda-elkan", 300, 12);
  for (const std::int64_t share : {2, 4, 8, 12}) {
    const std::int64_t mebibytes = estimate.device_bytes / share / (1024 * 1024);
    SCOPED_TRACE(std::to_string(mebibytes) + " MiB, 1/" + std::to_string(share));
    expect_same_bits(free, fit(dataset, "cuda-elkan", 300, 12, std::to_string(mebibytes)));
  }
}

class StopsWhenAskedOften final : public Observer {
 public:
  explicit StopsWhenAskedOften(std::int64_t times) : left_(times) {}
  bool on_iteration(const IterationRecord&) noexcept override { return true; }
  bool stop_requested() const noexcept override { return --left_ <= 0; }

 private:
  mutable std::atomic<std::int64_t> left_;
};

// A partial pass over batches must leave no trace.
TEST(Elkan, IsCancelledBetweenBatches) {
  constexpr std::int64_t kSamples = 400'000;
  constexpr std::int64_t kFeatures = 32;
  constexpr std::int64_t kClusters = 300;
  const Dataset dataset = clouds(kSamples, kFeatures, kClusters, 2);
  const auto* values = static_cast<const float*>(dataset.matrix().data);
  conformance::Samples samples{kSamples, kFeatures, {values, values + kSamples * kFeatures}};
  const auto loaded = backend("cuda-elkan");
  ParameterSet parameters = loaded->default_parameters();
  parameters.set("memory_limit", "24");
  BackendSession session(loaded, dataset, parameters);
  conformance::Setting setting;
  setting.clusters = kClusters;
  setting.centroids = conformance::first_rows(samples, kClusters);
  setting.fixed = true;
  FitOptions options;
  options.clusters = kClusters;
  options.max_iterations = 5;
  options.fixed_iterations = true;
  const Fit whole = session.fit_from(setting.centroids, options);
  ASSERT_NE(whole.notes.find("in batches"), std::string::npos) << whole.notes;

  conformance::Run plain;
  plain.observe = 0;

  for (const std::int64_t times : {1, 2, 5, 20, 100, 1000}) {
    SCOPED_TRACE(times);
    StopsWhenAskedOften observer(times);
    conformance::Run run = plain;
    run.observer = &observer;
    setting.max_iterations = 100'000;
    const conformance::Trial cut = run_fit(session.session(), samples, setting, run);
    EXPECT_EQ(cut.status.code, StatusCode::cancelled);
    EXPECT_LT(cut.result.iterations, setting.max_iterations);
    if (cut.result.iterations == 0) {
      EXPECT_EQ(cut.centroids, setting.centroids);
    } else {
      setting.max_iterations = cut.result.iterations;
      EXPECT_EQ(cut.centroids, run_fit(session.session(), samples, setting, plain).centroids);
    }
  }
  expect_same_bits(whole, session.fit_from(setting.centroids, options));
}

}  // namespace
}  // namespace lloyd::gpu_tests
