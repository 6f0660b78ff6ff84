// Sizes beyond 32-bit indices, constant memory and shared memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends.hpp"

namespace lloyd::gpu_tests {
namespace {

void check(const std::string& name, const Dataset& dataset, std::int64_t clusters) {
  const auto loaded = backend(name);
  BackendSession session(loaded, dataset, loaded->default_parameters());
  check_one_iteration(session, clusters);
}

TEST(Large, MoreThanABillionSamples) {
  const Dataset dataset = clouds(1'100'000'000, 2, 32, 1);
  check("cuda-fused", dataset, 32);
}

TEST(Large, FiveThousandClusters) {
  const Dataset dataset = clouds(1'000'000, 64, 5000, 2);
  check("cuda-fused", dataset, 5000);
}

TEST(Large, FiveThousandFeatures) {
  const Dataset dataset = clouds(100'000, 5000, 100, 3);
  check("cuda-fused", dataset, 100);
}

class LargeOnEach : public testing::TestWithParam<std::string> {};

TEST_P(LargeOnEach, OddSizes) {
  const Dataset dataset = clouds(1'000'003, 37, 211, 4);
  check(GetParam(), dataset, 211);
}

// Running sums in float32 stall at 2^24. The cluster without samples is relocated in the first
// iteration and then stays, since all distances are 0.
TEST_P(LargeOnEach, SixtyMillionEqualSamples) {
  constexpr std::int64_t kSamples = 60'000'000;
  const Dataset dataset("equal",
                        Matrix::from_values(std::vector<float>(kSamples, 0.1F), kSamples, 1));
  const auto loaded = backend(GetParam());
  BackendSession session(loaded, dataset, loaded->default_parameters());
  FitOptions options;
  options.clusters = 2;
  options.max_iterations = 2;
  options.fixed_iterations = true;
  const Fit fit = session.fit_from({0.0, 5.0}, options);
  EXPECT_EQ(fit.counts, (std::vector<std::int64_t>{kSamples, 0}));
  const auto value = static_cast<double>(0.1F);
  EXPECT_EQ(fit.centroids, (std::vector<double>{value, value}));
  EXPECT_EQ(fit.result.relocations, 1);
  EXPECT_EQ(fit.result.inertia, 0);
}

INSTANTIATE_TEST_SUITE_P(, LargeOnEach, testing::ValuesIn(cuda_backends()), test_name);

}  // namespace
}  // namespace lloyd::gpu_tests
