// Results must not depend on the block size or on concurrent launches of other sessions.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backends.hpp"

namespace lloyd::gpu_tests {
namespace {

Fit fit(BackendSession& session, const std::vector<double>& start, std::int64_t clusters) {
  FitOptions options;
  options.clusters = clusters;
  options.max_iterations = 10;
  options.tolerance = 0;
  return session.fit_from(start, options);
}

void expect_same_fit(const Fit& expected, const Fit& got) {
  EXPECT_EQ(got.centroids, expected.centroids);
  EXPECT_EQ(got.labels, expected.labels);
  EXPECT_EQ(got.counts, expected.counts);
  EXPECT_EQ(got.result.iterations, expected.result.iterations);
  EXPECT_EQ(got.result.stop_reason, expected.result.stop_reason);
}

Dataset in_float64(const Dataset& dataset) {
  const std::int64_t n = dataset.samples();
  const std::int64_t d = dataset.features();
  const auto* values = static_cast<const float*>(dataset.matrix().data);
  return Dataset("clouds", Matrix::from_values(std::vector<double>(values, values + n * d), n, d));
}

class BlockSize : public testing::TestWithParam<std::string> {};
class Launch : public testing::TestWithParam<std::string> {};

std::vector<std::string> backends_with_block_size() {
  std::vector<std::string> found;
  for (const std::string& name : cuda_backends()) {
    const ParameterSet parameters = backend(name)->default_parameters();
    const auto is_block_size = [](const ParameterInfo& parameter) {
      return std::string_view(parameter.name) == "block_size";
    };
    if (std::ranges::any_of(parameters.schema(), is_block_size)) found.push_back(name);
  }
  return found;
}

// 33 and 100 are not multiples of the warp size, and 1024 leaves the fewest registers per thread.
TEST_P(BlockSize, AnyGivesTheSameBits) {
  constexpr std::int64_t kClusters = 20;
  const auto loaded = backend(GetParam());
  for (const std::int64_t d : {1, 2, 5, 8, 16}) {
    const Dataset narrow = clouds(20'001, d, kClusters, 7);
    const Dataset wide = in_float64(narrow);
    const auto* values = static_cast<const double*>(wide.matrix().data);
    const std::vector<double> start(values, values + kClusters * d);
    for (const Dataset* dataset : {&narrow, &wide}) {
      BackendSession plain(loaded, *dataset, loaded->default_parameters());
      const Fit expected = fit(plain, start, kClusters);
      for (const std::string block_size : {"32", "33", "100", "1000", "1024"}) {
        SCOPED_TRACE(std::to_string(d) + (dataset == &wide ? " float64" : " float32") +
                     " features, block_size " + block_size);
        ParameterSet parameters = loaded->default_parameters();
        parameters.set("block_size", block_size);
        BackendSession session(loaded, *dataset, parameters);
        expect_same_fit(expected, fit(session, start, kClusters));
      }
    }
  }
}

// Kernels need more than the 48 KiB of shared memory that is available without opting in, and the
// amount for 900 clusters differs from that for 300.
TEST_P(Launch, SessionsOnTwoThreadsDoNotDisturbEachOther) {
  constexpr int kFits = 20;
  const auto loaded = backend(GetParam());
  const Dataset dataset = clouds(20'001, 16, 50, 8);
  const auto* values = static_cast<const float*>(dataset.matrix().data);
  const auto repeat = [&](std::int64_t clusters, std::vector<Fit>& fits) {
    const std::vector<double> start(values, values + clusters * 16);
    BackendSession session(loaded, dataset, loaded->default_parameters());
    for (int i = 0; i < kFits; ++i) fits.push_back(fit(session, start, clusters));
  };
  std::vector<Fit> many;
  std::vector<Fit> few;
  {
    std::jthread other([&] { EXPECT_NO_THROW(repeat(300, few)); });
    EXPECT_NO_THROW(repeat(900, many));
  }
  for (const std::vector<Fit>* fits : {&many, &few}) {
    ASSERT_EQ(fits->size(), static_cast<std::size_t>(kFits));
    const std::int64_t clusters = fits == &many ? 900 : 300;
    BackendSession session(loaded, dataset, loaded->default_parameters());
    const std::vector<double> start(values, values + clusters * 16);
    const Fit expected = fit(session, start, clusters);
    for (const Fit& found : *fits) expect_same_fit(expected, found);
  }
}

INSTANTIATE_TEST_SUITE_P(, BlockSize, testing::ValuesIn(backends_with_block_size()), test_name);
INSTANTIATE_TEST_SUITE_P(, Launch, testing::ValuesIn(cuda_backends()), test_name);

}  // namespace
}  // namespace lloyd::gpu_tests
