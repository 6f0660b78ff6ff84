// StepBackend: what a step declares reaches the plugin boundary.
#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/parameter_set.hpp>
#include <lloyd/plugin/sdk/step_backend.hpp>
#include <lloyd/plugin/sdk/thread_team.hpp>

#include "unit/support/experiment_fake_backend.hpp"

namespace lloyd {
namespace {

template <class T>
class DeviceStep : public fake::FakeStep<T> {
 public:
  using fake::FakeStep<T>::FakeStep;
  static Status probe(DeviceList* devices) {
    devices->count = 1;
    devices->devices[0] = fake::gpu_device();
    return {};
  }
  static std::int64_t estimate_device_bytes(const ProblemShape& shape, const ParameterList&) {
    return shape.samples * static_cast<std::int64_t>(sizeof(T));
  }
};

template <class T>
class StepWithoutDevice : public fake::FakeStep<T> {
 public:
  using fake::FakeStep<T>::FakeStep;
  static Status probe(DeviceList*) {
    throw StatusError(StatusCode::unavailable, "there is no device");
  }
};

// Supports as many clusters as its parameter `threads` says.
template <class T>
class ParameterLimitedStep : public fake::FakeStep<T> {
 public:
  using fake::FakeStep<T>::FakeStep;
  static Status supports(const ProblemShape& shape, const ParameterList& parameters,
                         const FitSpec&) {
    const std::int64_t limit = parameters.integer("threads");
    if (shape.clusters <= limit) return {};
    return Status::error(
        StatusCode::unsupported,
        "at most " + std::to_string(limit) + " clusters, not " + std::to_string(shape.clusters));
  }
};

// Reads an integer as a number.
template <class T>
class WrongReaderStep : public fake::FakeStep<T> {
 public:
  WrongReaderStep(const DatasetView& dataset, const ParameterList& parameters)
      : fake::FakeStep<T>(dataset, parameters), threads_(parameters.number("threads")) {}
  double threads() const { return threads_; }

 private:
  double threads_;
};

// Assigns two blocks on two threads. If `raise` is set, both threads meet in assign() before one of
// them calls it.
template <class T>
class ThrowingStep : public fake::FakeStep<T> {
 public:
  using fake::FakeStep<T>::FakeStep;
  static inline void (*raise)() = nullptr;
  static inline bool on_the_calling_thread = false;

  int workers() const { return 2; }
  template <class Body>
  void for_each_block(RowRange rows, Body&& body) {
    arrived_ = 0;
    const std::int64_t middle = rows.begin + rows.size() / 2;
    team_.for_each(2, 2, [&](int worker, std::int64_t half) {
      body(worker, half == 0 ? RowRange{rows.begin, middle} : RowRange{middle, rows.end});
    });
  }
  std::int64_t assign(RowRange block, std::int32_t* labels) {
    if (raise != nullptr) {
      ++arrived_;
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (arrived_ < 2 && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
      }
      if ((std::this_thread::get_id() == caller_) == on_the_calling_thread) raise();
    }
    return fake::FakeStep<T>::assign(block, labels);
  }

 private:
  const std::thread::id caller_ = std::this_thread::get_id();
  ThreadTeam team_{2};
  std::atomic<int> arrived_{0};
};

TEST(StepBackend, OpensNoStepThatReadsAParameterAsAnotherType) {
  const Dataset dataset("d", Matrix::from_values(std::vector<float>{0, 1}, 2, 1));
  StepBackend<WrongReaderStep, fake::kInfo> backend;
  const ParameterSet parameters(fake::kParameters, 2);
  Session* session = nullptr;
  const Status status = backend.open(dataset.view(), parameters.list(), &session);
  EXPECT_EQ(session, nullptr);
  EXPECT_EQ(status.code, StatusCode::internal);
  EXPECT_STREQ(status.message,
               "the backend reads the parameter 'threads' with number(), but its schema declares "
               "it with integer_parameter(); read it with integer()");
}

TEST(StepBackend, ListsTheDevicesOfItsStep) {
  DeviceList devices;
  ASSERT_TRUE((StepBackend<DeviceStep, fake::kInfo>::probe(&devices).ok()));
  EXPECT_EQ(devices.count, 1);
  EXPECT_EQ(devices.devices[0].kind, DeviceKind::gpu);
  EXPECT_STREQ(devices.devices[0].name, "NVIDIA H200");
}

TEST(StepBackend, ListsTheCpuByDefault) {
  DeviceList devices;
  ASSERT_TRUE((StepBackend<fake::FakeStep, fake::kInfo>::probe(&devices).ok()));
  EXPECT_EQ(devices.count, 1);
  EXPECT_STREQ(devices.devices[0].name, "CPU");
}

TEST(StepBackend, ReportsAProbeThatThrows) {
  DeviceList devices;
  const Status status = StepBackend<StepWithoutDevice, fake::kInfo>::probe(&devices);
  EXPECT_EQ(status.code, StatusCode::unavailable);
  EXPECT_STREQ(status.message, "there is no device");
}

TEST(StepBackend, EstimatesTheDeviceMemoryOfItsStep) {
  const StepBackend<DeviceStep, fake::kInfo> backend;
  ProblemShape shape;
  shape.samples = 1000;
  shape.features = shape.stride = shape.clusters = 1;
  for (const DType dtype : {DType::float32, DType::float64}) {
    shape.dtype = dtype;
    MemoryEstimate memory;
    ASSERT_TRUE(backend.estimate(shape, {}, {}, memory).ok());
    EXPECT_EQ(memory.device_bytes, 1000 * size_of(dtype));
  }
}

// Its estimates are values that the test sets.
template <class T>
class WrongEstimateStep : public fake::FakeStep<T> {
 public:
  using fake::FakeStep<T>::FakeStep;
  static std::int64_t estimate_bytes(const ProblemShape& shape, const ParameterList&) {
    return shape.samples;
  }
  static std::int64_t estimate_device_bytes(const ProblemShape& shape, const ParameterList&) {
    return shape.features;
  }
};

TEST(StepBackend, RefusesEstimatesThatAreNoSizes) {
  const StepBackend<WrongEstimateStep, fake::kInfo> backend;
  const auto estimated = [&](std::int64_t host, std::int64_t device) {
    ProblemShape shape;
    shape.clusters = 1;
    shape.samples = host;
    shape.features = shape.stride = device;
    MemoryEstimate memory;
    return backend.estimate(shape, {}, {}, memory);
  };
  EXPECT_TRUE(estimated(0, 5).ok());
  EXPECT_TRUE(estimated(std::int64_t{1} << 62, 5).ok());
  for (const std::int64_t wrong : {std::int64_t{-5}, (std::int64_t{1} << 62) + 1}) {
    const std::string end = std::to_string(wrong) + " bytes; 0 to 2^62 are possible";
    const Status host = estimated(wrong, 5);
    EXPECT_EQ(host.code, StatusCode::internal);
    EXPECT_EQ(host.message, "the step's estimate_bytes() returns " + end);
    EXPECT_EQ(estimated(5, wrong).message, "the step's estimate_device_bytes() returns " + end);
  }
}

TEST(StepBackend, FitRefusesWhatItsStepDoesNotSupport) {
  const std::vector<float> values = {0, 1, 2, 3};
  const Dataset dataset("d", Matrix::from_values(values, 4, 1));
  StepBackend<ParameterLimitedStep, fake::kInfo> backend;
  Session* session = nullptr;
  {
    // The parameters need not outlive open().
    ParameterSet parameters(fake::kParameters, 2);
    parameters.set("threads", "2");
    ASSERT_TRUE(backend.open(dataset.view(), parameters.list(), &session).ok());
  }
  const std::vector<double> start = {0, 1, 2};
  const auto fit = [&](std::int64_t clusters) {
    FitSpec spec;
    spec.clusters = clusters;
    spec.initial_centroids = start.data();
    spec.max_iterations = 1;
    std::vector<double> centroids(start.size());
    FitResult result;
    result.centroids = centroids.data();
    return session->fit(spec, nullptr, result);
  };
  EXPECT_TRUE(fit(2).ok());
  const Status refused = fit(3);
  EXPECT_EQ(refused.code, StatusCode::unsupported);
  EXPECT_STREQ(refused.message, "at most 2 clusters, not 3");
  session->release();
}

TEST(StepBackend, ReturnsWhatAssignThrowsAsAStatus) {
  using Throwing = ThrowingStep<float>;
  const std::vector<float> values = {0, 1, 8, 9};
  const Dataset dataset("d", Matrix::from_values(values, 4, 1));
  StepBackend<ThrowingStep, fake::kInfo> backend;
  const ParameterSet parameters(fake::kParameters, 2);
  Session* session = nullptr;
  ASSERT_TRUE(backend.open(dataset.view(), parameters.list(), &session).ok());
  const std::vector<double> start = {0, 9};
  std::vector<double> centroids(start.size());
  const auto fit = [&](void (*raise)(), bool on_the_calling_thread) {
    Throwing::raise = raise;
    Throwing::on_the_calling_thread = on_the_calling_thread;
    FitSpec spec;
    spec.clusters = 2;
    spec.initial_centroids = start.data();
    spec.max_iterations = 5;
    FitResult result;
    result.centroids = centroids.data();
    const Status status = session->fit(spec, nullptr, result);
    Throwing::raise = nullptr;
    return status;
  };
  for (const bool on_the_calling_thread : {true, false}) {
    const Status singular =
        fit([] { throw std::runtime_error("the matrix is singular"); }, on_the_calling_thread);
    EXPECT_EQ(singular.code, StatusCode::internal);
    EXPECT_STREQ(singular.message,
                 "the step's assign() threw an exception: the matrix is singular");
    const Status silent = fit([] { throw std::runtime_error(""); }, on_the_calling_thread);
    EXPECT_EQ(silent.code, StatusCode::internal);
    EXPECT_STREQ(silent.message, "the step's assign() threw an exception without a message");
    const Status no_memory = fit([] { throw std::bad_alloc(); }, on_the_calling_thread);
    EXPECT_EQ(no_memory.code, StatusCode::out_of_memory);
    const Status lost =
        fit([] { throw StatusError(StatusCode::device_error, "the device is lost"); },
            on_the_calling_thread);
    EXPECT_EQ(lost.code, StatusCode::device_error);
    EXPECT_STREQ(lost.message, "the device is lost");
    const Status number = fit([] { throw 7; }, on_the_calling_thread);
    EXPECT_EQ(number.code, StatusCode::internal);
    centroids.assign(start.size(), 0.0);
    EXPECT_TRUE(fit(nullptr, on_the_calling_thread).ok());
    EXPECT_EQ(centroids, (std::vector<double>{0.5, 8.5}));
  }
  session->release();
}

}  // namespace
}  // namespace lloyd
