// DevicePasses on the caller's stream: passes wait for late work on it, work that follows sees
// their outputs, and the limbs have the bits of PassKernels.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <lloyd/plugin/abi/device_passes.hpp>
#include <lloyd/plugin/abi/pass_kernels.hpp>

#include "backends.hpp"
#include "copy_counter.hpp"
#include "device_arrays.hpp"

namespace lloyd::gpu_tests {
namespace {

constexpr std::int64_t kPassRows = 1 << 17;
constexpr std::int64_t kPassFeatures = 6;
constexpr std::int64_t kPassClusters = 20;
constexpr std::int64_t kPassCells = kPassClusters * kPassFeatures;
constexpr SumLimbs kPassLimbs{4, 32};

// Integers that passes add to, on the device, and a copy of them.
struct Output {
  explicit Output(std::int64_t values)
      : size(static_cast<std::size_t>(values)),
        device(device_array<std::int64_t>(values)),
        copy(pinned_array<std::int64_t>(values)) {}

  void clear(cudaStream_t stream) const {
    expect_success(cudaMemsetAsync(device.get(), 0, size * sizeof(std::int64_t), stream));
  }
  void fetch(cudaStream_t stream) const {
    expect_success(cudaMemcpyAsync(copy.get(), device.get(), size * sizeof(std::int64_t),
                                   cudaMemcpyDeviceToHost, stream));
  }
  // The copy equals twice these values.
  void expect_twice(const std::vector<std::int64_t>& once) const {
    ASSERT_EQ(once.size(), size);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(copy.get()[i], 2 * once[i]) << i;
  }

  std::size_t size;
  std::shared_ptr<std::int64_t> device, copy;
};

template <class Interface>
Interface& part_of(BackendSession& session, const char* name) {
  auto* const offered = static_cast<Interface*>(session.session().query(name));
  if (offered == nullptr) throw std::runtime_error(std::string("the session has no ") + name);
  return *offered;
}

PassKernels& begin_passes(BackendSession& session) {
  auto& kernels = part_of<PassKernels>(session, kPassKernels);
  PassOptions options;
  options.clusters = kPassClusters;
  options.limbs = kPassLimbs;
  EXPECT_TRUE(kernels.begin(options).ok());
  return kernels;
}

class DevicePassesOf : public testing::TestWithParam<std::string> {
 protected:
  // Two sessions add three passes to the same arrays on `stream`.
  void check_on(cudaStream_t stream) {
    const auto loaded = backend(GetParam());
    const Dataset rows = clouds(kPassRows, kPassFeatures, kPassClusters, 17);
    BackendSession checking(loaded, rows, loaded->default_parameters());
    BackendSession first(loaded, rows, loaded->default_parameters());
    BackendSession second(loaded, rows, loaded->default_parameters());
    PassKernels& expected_passes = begin_passes(checking);
    std::vector<DevicePasses*> passes;
    for (BackendSession* const session : {&first, &second}) {
      begin_passes(*session);
      passes.push_back(&part_of<DevicePasses>(*session, kDevicePasses));
    }
    const auto centroids = device_array<double>(kPassCells);
    const auto pinned = pinned_array<double>(kPassCells);
    const Output sums(kPassLimbs.count * kPassCells);
    const Output counts(kPassClusters);
    const Output changed(1);
    const Output inertia(ExactSum::kChunks);
    const Output* const outputs[] = {&sums, &counts, &changed, &inertia};

    for (const std::int64_t shift : {0, 3, 5000}) {
      SCOPED_TRACE(shift);
      std::vector<std::int64_t> numbers;
      for (std::int64_t c = 0; c < kPassClusters; ++c) numbers.push_back(c * 1001 + shift);
      const std::vector<double> values = rows.samples_of(numbers);
      std::copy(values.begin(), values.end(), pinned.get());
      // The arrays are overwritten late, before and after the passes.
      expect_success(cudaMemsetAsync(centroids.get(), 0x11, kPassCells * sizeof(double), stream));
      delay_stream(stream);
      for (const Output* const output : outputs) output->clear(stream);
      expect_success(cudaMemcpyAsync(centroids.get(), pinned.get(), kPassCells * sizeof(double),
                                     cudaMemcpyHostToDevice, stream));
      DevicePassRequest request;
      request.centroids = centroids.get();
      request.sums = sums.device.get();
      request.counts = counts.device.get();
      request.changed = changed.device.get();
      request.inertia = inertia.device.get();
      request.stream = stream;
      reset_copies();
      for (DevicePasses* const session : passes) {
        DevicePassResult result;
        ASSERT_TRUE(session->pass(request, nullptr, result).ok());
      }
      EXPECT_LT(copied_bytes().to_host, 1 << 16);
      expect_success(cudaMemsetAsync(centroids.get(), 0x11, kPassCells * sizeof(double), stream));
      for (const Output* const output : outputs) output->fetch(stream);
      expect_success(cudaStreamSynchronize(stream));

      std::vector<std::int64_t> once(sums.size, 0);
      std::vector<std::int64_t> counts_once(counts.size, 0);
      ExactSum twice;
      PassRequest host;
      host.centroids = values.data();
      host.sums = once.data();
      host.counts = counts_once.data();
      ExactSum inertia_once;
      host.inertia = &inertia_once;
      PassResult result;
      ASSERT_TRUE(expected_passes.pass(host, nullptr, result).ok());
      sums.expect_twice(once);
      counts.expect_twice(counts_once);
      changed.expect_twice({result.changed});
      ExactSum got;
      std::copy_n(inertia.copy.get(), ExactSum::kChunks, got.chunks);
      twice.add(inertia_once);
      twice.add(inertia_once);
      EXPECT_EQ(got.value(), twice.value());
    }
  }
};

TEST_P(DevicePassesOf, FollowAStreamOfTheCaller) {
  const CallerStream stream;
  check_on(stream);
}

TEST_P(DevicePassesOf, FollowTheDefaultStream) {
  check_on(nullptr);
}

// labels() waits for a pass that is still running.
TEST_P(DevicePassesOf, LaterCallsWaitForThePass) {
  const auto loaded = backend(GetParam());
  const Dataset rows = clouds(kPassRows, kPassFeatures, kPassClusters, 18);
  std::vector<std::int64_t> numbers;
  for (std::int64_t c = 0; c < kPassClusters; ++c) numbers.push_back(c * 1001);
  const std::vector<double> values = rows.samples_of(numbers);
  const auto centroids = device_array<double>(kPassCells);
  expect_success(cudaMemcpy(centroids.get(), values.data(), kPassCells * sizeof(double),
                            cudaMemcpyHostToDevice));
  std::vector<std::int32_t> expected(kPassRows);
  std::vector<std::int32_t> got(kPassRows);
  {
    BackendSession session(loaded, rows, loaded->default_parameters());
    PassKernels& kernels = begin_passes(session);
    PassRequest request;
    request.centroids = values.data();
    PassResult result;
    ASSERT_TRUE(kernels.pass(request, nullptr, result).ok());
    ASSERT_TRUE(kernels.labels(expected.data()).ok());
  }
  BackendSession session(loaded, rows, loaded->default_parameters());
  PassKernels& kernels = begin_passes(session);
  DevicePassRequest request;
  request.centroids = centroids.get();
  DevicePassResult result;
  ASSERT_TRUE(part_of<DevicePasses>(session, kDevicePasses).pass(request, nullptr, result).ok());
  ASSERT_TRUE(kernels.labels(got.data()).ok());
  EXPECT_EQ(got, expected);
  for (int i = 0; i < 3; ++i) {  // begin() and end() while a pass is running
    begin_passes(session);
    ASSERT_TRUE(part_of<DevicePasses>(session, kDevicePasses).pass(request, nullptr, result).ok());
    if (i == 1) kernels.end();
  }
}

INSTANTIATE_TEST_SUITE_P(, DevicePassesOf, testing::ValuesIn(device_memory_backends()), test_name);

}  // namespace
}  // namespace lloyd::gpu_tests
