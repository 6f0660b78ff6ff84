// Samples in device memory, handed over by address and stream as by a CuPy or PyTorch program: no
// sample is copied from the host, and the caller's stream is waited for.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <lloyd/kmeans.hpp>
#include <lloyd/plugin/abi/device_memory.hpp>

#include "backends.hpp"
#include "copy_counter.hpp"
#include "device_arrays.hpp"

namespace lloyd::gpu_tests {
namespace {

constexpr std::int64_t kDeviceRows = 1 << 17;
constexpr std::int64_t kDeviceClusters = 20;
// Copies of centroids, quanta and flags in all calls of a test; samples take 2 MiB or more.
constexpr std::int64_t kSmallCopies = 256 << 10;

// A copy in device memory with `stride`, written late on the stream. The source is pinned, so that
// the copy is asynchronous.
class LateRows {
 public:
  LateRows(const Dataset& dataset, std::int64_t stride, const CallerStream& stream)
      : memory_(device_array<float>(dataset.samples() * stride)) {
    const std::int64_t n = dataset.samples();
    const std::int64_t d = dataset.features();
    const auto bytes = static_cast<std::size_t>(n * stride) * sizeof(float);
    pinned_ = pinned_array<float>(n * stride);
    std::fill_n(pinned_.get(), n * stride, std::numeric_limits<float>::quiet_NaN());
    const auto* const values = static_cast<const float*>(dataset.matrix().data);
    for (std::int64_t i = 0; i < n; ++i) {
      std::copy_n(values + i * d, d, pinned_.get() + i * stride);
    }
    expect_success(cudaMemsetAsync(memory_.get(), 0xff, bytes, stream));  // NaN
    stream.delay();
    expect_success(
        cudaMemcpyAsync(memory_.get(), pinned_.get(), bytes, cudaMemcpyHostToDevice, stream));
    matrix = DeviceMatrix::view(memory_.get(), n, d, stride, 0, stream);
  }

  DeviceMatrix matrix;

 private:
  std::shared_ptr<float> memory_;
  std::shared_ptr<float> pinned_;
};

FitOptions few_iterations() {
  FitOptions options;
  options.clusters = kDeviceClusters;
  options.max_iterations = 12;
  options.tolerance = 0;
  return options;
}

class DeviceDataOf : public testing::TestWithParam<std::string> {};

TEST_P(DeviceDataOf, FitCopiesNoRowsFromTheHost) {
  const auto loaded = backend(GetParam());
  for (const std::int64_t d : {4, 16, 19}) {
    for (const std::int64_t gap : {0, 4, 1}) {
      SCOPED_TRACE(testing::Message() << "d " << d << ", gap " << gap);
      const Dataset host = clouds(kDeviceRows, d, kDeviceClusters, 7);
      const std::vector<double> start = host.samples_of([] {
        std::vector<std::int64_t> rows;
        for (std::int64_t c = 0; c < kDeviceClusters; ++c) rows.push_back(c * 1001);
        return rows;
      }());
      reset_copies();
      BackendSession of_host(loaded, host, loaded->default_parameters());
      EXPECT_GE(copied_bytes().to_device, kDeviceRows * d * 4);  // what the counter must not miss
      const Fit expected = of_host.fit_from(start, few_iterations());

      const CallerStream stream;
      const LateRows rows(host, d + gap, stream);
      reset_copies();
      const Dataset device("rows of a caller", rows.matrix, loaded);
      BackendSession session(loaded, device, loaded->default_parameters());
      const Fit got = session.fit_from(start, few_iterations());
      const CopiedBytes copied = copied_bytes();
      EXPECT_LT(copied.to_device, kSmallCopies);
      EXPECT_LT(copied.to_host,
                kDeviceRows * 4 + (std::int64_t{1} << 20));  // labels and statistics
      EXPECT_EQ(got.centroids, expected.centroids);
      EXPECT_EQ(got.labels, expected.labels);
      EXPECT_EQ(got.counts, expected.counts);
      EXPECT_EQ(got.inertia, expected.inertia);
      EXPECT_EQ(got.result.iterations, expected.result.iterations);
    }
  }
}

TEST_P(DeviceDataOf, SeedingAndRelocationCopyNoRowsFromTheHost) {
  const auto loaded = backend(GetParam());
  const Dataset host = clouds(kDeviceRows, 8, kDeviceClusters, 8);
  BackendSession of_host(loaded, host, loaded->default_parameters());
  const Fit expected = fit(of_host, few_iterations());
  const CallerStream stream;
  const LateRows rows(host, 8, stream);
  reset_copies();
  const Dataset device("rows of a caller", rows.matrix, loaded);
  BackendSession session(loaded, device, loaded->default_parameters());
  const Fit got = fit(session, few_iterations());
  EXPECT_LT(copied_bytes().to_device, kSmallCopies);
  EXPECT_EQ(got.centroids, expected.centroids);
  EXPECT_EQ(got.labels, expected.labels);

  std::vector<double> start = expected.centroids;
  std::fill(start.begin() + 8 * 8, start.end(), 1e3);  // all clusters from the 8th on are empty
  const Fit relocated = of_host.fit_from(start, few_iterations());
  EXPECT_GT(relocated.result.relocations, 0);
  reset_copies();
  const Fit on_device = session.fit_from(start, few_iterations());
  EXPECT_LT(copied_bytes().to_device, kSmallCopies);
  EXPECT_EQ(on_device.result.relocations, relocated.result.relocations);
  EXPECT_EQ(on_device.centroids, relocated.centroids);
  EXPECT_EQ(on_device.labels, relocated.labels);
}

TEST_P(DeviceDataOf, ResultsGoToTheCallersArraysInStreamOrder) {
  const auto loaded = backend(GetParam());
  const Dataset host = clouds(kDeviceRows, 6, kDeviceClusters, 9);
  const CallerStream stream;
  const LateRows rows(host, 6, stream);
  const Dataset device("rows of a caller", rows.matrix, loaded);
  BackendSession session(loaded, device, loaded->default_parameters());
  const Fit found = fit(session, few_iterations());
  const auto centroids = device_array<double>(kDeviceClusters * 6);
  const auto labels = device_array<std::int32_t>(kDeviceRows);
  const auto counts = device_array<std::int64_t>(kDeviceClusters);
  const CallerStream results;
  DeviceArrays arrays;
  arrays.centroids = centroids.get();
  arrays.labels = labels.get();
  arrays.counts = counts.get();
  arrays.stream = results;
  // Late work on the stream of the arrays, which must not overwrite the results.
  results.delay();
  expect_success(cudaMemsetAsync(labels.get(), 0xff, kDeviceRows * sizeof(std::int32_t), results));
  reset_copies();
  session.copy_results(found, arrays);
  EXPECT_EQ(copied_bytes().to_device, 0);
  EXPECT_EQ(copied_bytes().to_host, 0);
  // The next fit must not overwrite them before they are copied.
  FitOptions other = few_iterations();
  other.seeding.seed = 5;
  fit(session, other);
  std::vector<double> got_centroids(found.centroids.size());
  std::vector<std::int32_t> got_labels(found.labels.size());
  std::vector<std::int64_t> got_counts(found.counts.size());
  const auto fetch = [&](auto& to, const void* from) {
    expect_success(cudaMemcpyAsync(to.data(), from, to.size() * sizeof(to[0]),
                                   cudaMemcpyDeviceToHost, results));
  };
  fetch(got_centroids, centroids.get());
  fetch(got_labels, labels.get());
  fetch(got_counts, counts.get());
  expect_success(cudaStreamSynchronize(results));
  EXPECT_EQ(got_centroids, found.centroids);
  EXPECT_EQ(got_labels, found.labels);
  EXPECT_EQ(got_counts, found.counts);
}

TEST_P(DeviceDataOf, OneCallClustersADeviceMatrix) {
  const Dataset host = clouds(kDeviceRows, 16, kDeviceClusters, 10);
  const CallerStream stream;
  const LateRows rows(host, 16, stream);
  KMeansOptions options;
  options.backend.name = GetParam();
  options.backend.plugin_folders = {plugin_folder()};
  options.fit = few_iterations();
  const Fit expected = kmeans(host, kDeviceClusters, options);
  reset_copies();
  const Fit got = kmeans(rows.matrix, kDeviceClusters, options);
  EXPECT_LT(copied_bytes().to_device, kSmallCopies);
  EXPECT_EQ(got.centroids, expected.centroids);
  EXPECT_EQ(got.labels, expected.labels);
  options.backend.name = {};
  EXPECT_EQ(kmeans(rows.matrix, kDeviceClusters, options).samples, kDeviceRows);
}

// Backends whose kernels read rows of 16 features in place take no memory for them. (The tensor
// cores of cuda-fast need a copy in another form.)
TEST_P(DeviceDataOf, RowsInPlaceTakeNoMemory) {
  constexpr std::int64_t kManyRows = 4'000'000;  // 256 MB
  const auto loaded = backend(GetParam());
  ParameterSet parameters = loaded->default_parameters();
  if (GetParam() == "cuda-shared-reduction") parameters.set("layout", "aos");
  if (GetParam() == "cuda-fast") parameters.set("path", "direct");
  const Dataset host = clouds(kManyRows, 16, kDeviceClusters, 11);
  const CallerStream stream;
  const LateRows rows(host, 16, stream);
  const Dataset device("rows of a caller", rows.matrix, loaded);
  const std::vector<double> start = device.samples_of(std::vector<std::int64_t>{1, 2, 3});
  FitOptions options = few_iterations();
  options.clusters = 3;
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  for (int again = 0; again < 2; ++again) {  // kernels are loaded in the first round
    expect_success(cudaMemGetInfo(&before, &total));
    BackendSession session(loaded, device, parameters);
    session.fit_from(start, options);
    expect_success(cudaMemGetInfo(&after, &total));
  }
  EXPECT_LT(static_cast<double>(before) - static_cast<double>(after), 240e6);
}

INSTANTIATE_TEST_SUITE_P(, DeviceDataOf, testing::ValuesIn(device_memory_backends()), test_name);

}  // namespace
}  // namespace lloyd::gpu_tests
