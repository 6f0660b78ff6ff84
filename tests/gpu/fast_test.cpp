// cuda-fast against the definition, on every path of its screen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "backends.hpp"
#include "conformance/support/samples.hpp"
#include "conformance/support/trial.hpp"

namespace lloyd::gpu_tests {
namespace {

using conformance::Numbers;
using conformance::Samples;
using conformance::Trial;

class FastPath : public testing::TestWithParam<std::string> {
 protected:
  ParameterSet parameters(const LoadedBackend& backend) {
    ParameterSet parameters = backend.default_parameters();
    parameters.set("path", GetParam());
    return parameters;
  }
};

// A fit of the backend `name` to the samples, converted to `dtype`.
Trial fit_with(const std::string& name, const ParameterSet& parameters, const Samples& samples,
               const conformance::Setting& setting, DType dtype) {
  const auto loaded = backend(name);
  const Dataset dataset = conformance::make_dataset(samples, dtype);
  BackendSession session(loaded, dataset, parameters);
  return conformance::run_fit(session.session(), samples, setting);
}

void expect_same_fits(const Trial& got, const Trial& expected) {
  ASSERT_TRUE(got.status.ok()) << got.status.message;
  ASSERT_TRUE(expected.status.ok()) << expected.status.message;
  ASSERT_EQ(got.trace.size(), expected.trace.size());
  for (std::size_t i = 0; i < got.trace.size(); ++i) {
    SCOPED_TRACE("iteration " + std::to_string(i));
    EXPECT_EQ(got.trace[i].labels, expected.trace[i].labels);
    EXPECT_EQ(got.trace[i].centroids, expected.trace[i].centroids);
    EXPECT_EQ(got.trace[i].record.inertia, expected.trace[i].record.inertia);
    EXPECT_EQ(got.trace[i].record.changed, expected.trace[i].record.changed);
  }
  EXPECT_EQ(got.labels, expected.labels);
  EXPECT_EQ(got.centroids, expected.centroids);
  EXPECT_EQ(got.counts, expected.counts);
  EXPECT_EQ(got.result.inertia, expected.result.inertia);
}

// Sizes around those at which kernels change: steps of 16 features, tiles of 64 samples and of 64
// or 128 centroids, parts of shared memory, the end of the tensor-core path.
Samples random_samples(Numbers& numbers) {
  const std::vector<std::int64_t> edges = {1,   2,   3,   4,   5,   8,   9,    15,  16,
                                           17,  32,  33,  64,  65,  96,  97,   128, 129,
                                           208, 209, 300, 512, 880, 881, 1776, 1777};
  const std::int64_t d = edges[static_cast<std::size_t>(numbers.integer(0, std::ssize(edges) - 1))];
  const std::int64_t n = numbers.integer(1, 60'000 / (d + 20));
  const std::uint64_t seed = numbers.bits();
  switch (numbers.integer(0, 3)) {
    case 0:
      return conformance::cloud(n, d, seed);
    case 1:
      return conformance::blobs(n, d, std::max<std::int64_t>(n / 20, 1), 6, seed);
    case 2:
      return conformance::lattice(n, d, 2, seed);  // many ties
    default:
      return conformance::transformed(conformance::cloud(n, d, seed), 1, 1e4);
  }
}

TEST_P(FastPath, HasTheSameBitsWithLittleMemory) {
  const auto fast = backend("cuda-fast");
  const Samples samples = conformance::rounded(conformance::cloud(60'000, 40, 2), DType::float32);
  conformance::Setting setting;
  setting.clusters = 300;
  setting.centroids = conformance::first_rows(samples, setting.clusters);
  setting.max_iterations = 5;
  const Trial expected = fit_with("cuda-fast", parameters(*fast), samples, setting, DType::float32);
  // The samples take 10 MB, and their fragments (tensor cores only) another 10 MB. The limits fit
  // both, the samples alone, neither.
  for (const char* mebibytes : {"40", "18", "8"}) {
    SCOPED_TRACE(mebibytes);
    ParameterSet limited = parameters(*fast);
    limited.set("memory_limit", mebibytes);
    expect_same_fits(fit_with("cuda-fast", limited, samples, setting, DType::float32), expected);
  }
}

// With centroids at about four times the largest value, the unused columns of a tile of centroids
// have lower scores than the used ones.
TEST_P(FastPath, DecidesAmongCentroidsThatAreFarFromAllSamples) {
  const auto fast = backend("cuda-fast");
  const ParameterSet sequential = backend("sequential")->default_parameters();
  Numbers numbers(5);
  Samples samples{300, 16, {}};
  for (std::int64_t i = 0; i < samples.n * samples.d; ++i) {
    const bool in_corner = i < samples.d || numbers.integer(0, 1) == 0;
    samples.values.push_back(in_corner ? -1 : 1);
  }
  for (const std::int64_t clusters : {3, 63, 64, 65, 127, 128, 255}) {
    for (const double distance : {2.5, 4.2, 6.0, 12.0}) {
      SCOPED_TRACE(std::to_string(clusters) + " clusters at " + std::to_string(distance));
      conformance::Setting setting;
      setting.clusters = clusters;
      for (std::int64_t i = 0; i < clusters * samples.d; ++i) {
        setting.centroids.push_back(distance + 1e-3 * numbers.uniform());
      }
      setting.max_iterations = 1;
      expect_same_fits(fit_with("cuda-fast", parameters(*fast), samples, setting, DType::float32),
                       fit_with("sequential", sequential, samples, setting, DType::float64));
    }
  }
}

TEST_P(FastPath, ReportsExactFallbacks) {
  const auto fast = backend("cuda-fast");
  const Samples samples = conformance::rounded(conformance::cloud(20'000, 16, 3), DType::float32);
  conformance::Setting setting;
  setting.clusters = 100;
  setting.centroids = conformance::first_rows(samples, setting.clusters);
  setting.max_iterations = 3;
  setting.fixed = true;
  const Trial fit = fit_with("cuda-fast", parameters(*fast), samples, setting, DType::float32);
  ASSERT_TRUE(fit.status.ok()) << fit.status.message;
  EXPECT_GE(fit.result.exact_fallbacks, 0);
  EXPECT_LT(fit.result.exact_fallbacks, 4 * samples.n / 10);  // three iterations and the closing
}

TEST_P(FastPath, AllLabelsOfALargeFitFollowTheDefinition) {
  const auto fast = backend("cuda-fast");
  constexpr std::int64_t kClusters = 512;
  const Dataset dataset = clouds(1'000'000, 32, kClusters, 4);
  BackendSession session(fast, dataset, parameters(*fast));
  FitOptions options;
  options.clusters = kClusters;
  options.max_iterations = 3;
  const auto* values = static_cast<const float*>(dataset.matrix().data);
  const std::vector<double> start(values, values + kClusters * 32);
  const Fit fit = session.fit_from(start, options);
  EXPECT_EQ(wrong_labels(dataset, fit.centroids, kClusters, fit.labels), 0);
}

std::vector<std::string> paths_of_this_device() {
  std::vector<std::string> paths = {"auto", "direct"};
  const auto fast = backend("cuda-fast");
  ProblemShape shape;
  shape.samples = 100;
  shape.features = 20;
  shape.stride = 20;
  shape.clusters = 10;
  for (const char* path : {"mma", "wgmma"}) {
    ParameterSet parameters = fast->default_parameters();
    parameters.set("path", path);
    if (unsupported_reason(*fast, shape, 0, parameters, FitSpec{}).empty()) {
      paths.emplace_back(path);
    }
  }
  return paths;
}

TEST(Fast, HasTheBitsOfTheReferenceOnRandomProblems) {
  const auto fast = backend("cuda-fast");
  const ParameterSet sequential = backend("sequential")->default_parameters();
  const std::vector<std::string> paths = paths_of_this_device();
  Numbers numbers(1);
  for (int problem = 0; problem < 200; ++problem) {
    const DType dtype = problem % 3 == 0 ? DType::float64 : DType::float32;
    const Samples samples = conformance::rounded(random_samples(numbers), dtype);
    conformance::Setting setting;
    setting.clusters = numbers.integer(1, std::min<std::int64_t>(samples.n, 700));
    setting.centroids = conformance::first_rows(samples, setting.clusters);
    setting.max_iterations = 6;
    const Trial expected = fit_with("sequential", sequential, samples, setting, DType::float64);
    for (const std::string& path : paths) {
      SCOPED_TRACE("problem " + std::to_string(problem) + ", " + path + ": " +
                   std::to_string(samples.n) + " x " + std::to_string(samples.d) +
                   ", k = " + std::to_string(setting.clusters));
      ParameterSet parameters = fast->default_parameters();
      parameters.set("path", path);
      expect_same_fits(fit_with("cuda-fast", parameters, samples, setting, dtype), expected);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, FastPath, testing::ValuesIn(paths_of_this_device()), test_name);

}  // namespace
}  // namespace lloyd::gpu_tests
