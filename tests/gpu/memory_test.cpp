// Device memory: the estimate matches the use, and exhaustion is reported as a status.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include <lloyd/error.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>

#include "backends.hpp"

namespace lloyd::gpu_tests {
namespace {

std::int64_t free_bytes() {
  std::size_t free_now = 0;
  std::size_t total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free_now, &total), cudaSuccess);
  return static_cast<std::int64_t>(free_now);
}

FitOptions five_iterations(std::int64_t clusters) {
  FitOptions options;
  options.clusters = clusters;
  options.max_iterations = 5;
  options.fixed_iterations = true;
  options.empty_clusters = EmptyClusters::keep;
  return options;
}

std::vector<double> first_rows(const Dataset& dataset, std::int64_t clusters) {
  const auto* values = static_cast<const float*>(dataset.matrix().data);
  return {values, values + clusters * dataset.features()};
}

// Lets a session compute the distances of a seeding, whose memory it keeps until the next request.
void begin_seeding(BackendSession& session, const std::vector<double>& centroids) {
  auto* const kernels = static_cast<SeedingKernels*>(session.session().query(kSeedingKernels));
  if (kernels == nullptr) return;
  const auto n = static_cast<std::size_t>(session.dataset().samples());
  std::vector<double> distances(n, std::numeric_limits<double>::infinity());
  std::vector<std::int32_t> nearest(n);
  NearestRequest request;
  request.centroids = centroids.data();
  request.count = 1;
  request.squared_distances = distances.data();
  request.nearest = nearest.data();
  EXPECT_TRUE(kernels->nearest(request, nullptr).ok());
}

class Memory : public testing::TestWithParam<std::string> {};

TEST_P(Memory, IsWhatWasEstimated) {
  constexpr std::int64_t kClusters = 40;
  const auto loaded = backend(GetParam());
  const ParameterSet parameters = loaded->default_parameters();
  {
    // Kernels are loaded at their first use and stay loaded.
    const Dataset small = clouds(1000, 8, kClusters, 1);
    BackendSession session(loaded, small, parameters);
    session.fit_from(first_rows(small, kClusters), five_iterations(kClusters));
  }
  const Dataset dataset = clouds(20'000'000, 8, kClusters, 2);
  const std::int64_t before = free_bytes();
  const std::vector<double> centroids = first_rows(dataset, kClusters);
  BackendSession session(loaded, dataset, parameters);
  session.fit_from(centroids, five_iterations(kClusters));
  begin_seeding(session, centroids);  // in addition to what the session keeps for the next fit
  const auto used = static_cast<double>(before - free_bytes());
  const MemoryEstimate estimate =
      estimate_memory(*loaded, make_shape(dataset, kClusters), parameters,
                      make_spec(five_iterations(kClusters), dataset.mean_variance()));
  std::printf("%s: %.1f MB used, %.1f MB estimated\n", GetParam().c_str(), used / 1e6,
              static_cast<double>(estimate.device_bytes) / 1e6);
  EXPECT_NEAR(static_cast<double>(estimate.device_bytes), used, 0.05 * used);
}

TEST_P(Memory, RunsOutWithAStatusAndTheNextFitWorks) {
  const auto loaded = backend(GetParam());
  const ParameterSet parameters = loaded->default_parameters();
  const Dataset dataset = clouds(4'000'000, 16, 10, 3);
  const std::int64_t left = 100 << 20;  // too little for 256 MB of samples
  void* hog = nullptr;
  ASSERT_EQ(cudaMalloc(&hog, static_cast<std::size_t>(free_bytes() - left)), cudaSuccess);
  try {
    BackendSession session(loaded, dataset, parameters);
    session.fit_from(first_rows(dataset, 10), five_iterations(10));
    ADD_FAILURE() << "the session fitted into what was left";
  } catch (const BackendError& error) {
    EXPECT_NE(std::string(error.what()).find("out of memory"), std::string::npos) << error.what();
  }
  ASSERT_EQ(cudaFree(hog), cudaSuccess);
  BackendSession session(loaded, dataset, parameters);
  const Fit fit = session.fit_from(first_rows(dataset, 10), five_iterations(10));
  EXPECT_EQ(fit.result.iterations, 5);
}

INSTANTIATE_TEST_SUITE_P(, Memory, testing::ValuesIn(cuda_backends()), test_name);

}  // namespace
}  // namespace lloyd::gpu_tests
