// The step of cuda-hybrid on a fake device: passes, threads, errors, cancellation.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/parameter_set.hpp>

#include "conformance/conformance.hpp"
#include "cuda-hybrid/hybrid_step.hpp"
#include "unit/cuda/hybrid_fake_labeller.hpp"
#include "unit/support/experiment_fake_backend.hpp"

namespace lloyd {
namespace {

using fake::hybrid_device;

template <class T>
using HybridStep = lloyd_cuda_hybrid::HybridStep<T, fake::HybridLabeller<T>>;

constexpr ParameterInfo kParameters[] = {
    integer_parameter("threads", 3, 0, 64, "threads of the pool"),
    integer_parameter("chunk", 100, 0, 1 << 30, "rows"),
};

constexpr BackendInfo kInfo = [] {
  BackendInfo info = exact_step_info("a fake");
  info.accuracy = Accuracy::float32;
  info.reproducibility = Reproducibility::threads;
  info.parameters = kParameters;
  info.parameter_count = 2;
  return info;
}();

class HybridSteps : public testing::Test {
 protected:
  HybridSteps() : backend_(make()) { hybrid_device.reset(); }

  static std::shared_ptr<const LoadedBackend> make() {
    return std::make_shared<const LoadedBackend>("fake", make_plugin_header("hybrid", "1"),
                                                 new StepBackend<HybridStep, kInfo>,
                                                 std::vector<DeviceInfo>(1), "");
  }

  ParameterSet parameters(int threads, int chunk) const {
    ParameterSet set = backend_->default_parameters();
    set.set("threads", std::to_string(threads));
    set.set("chunk", std::to_string(chunk));
    return set;
  }

  static Dataset data(DType dtype, std::int64_t samples = 2000) {
    return make_blobs(
        {.samples = samples, .features = 3, .centers = 20, .std = 2, .seed = 3, .dtype = dtype});
  }

  std::shared_ptr<const LoadedBackend> backend_;
};

FitOptions options_of(std::int64_t iterations) {
  FitOptions options;
  options.clusters = 11;
  options.max_iterations = iterations;
  options.fixed_iterations = true;
  return options;
}

TEST_F(HybridSteps, GiveTheSameBitsForAllThreadsAndChunks) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    const Dataset dataset = data(dtype);
    BackendSession first(backend_, dataset, parameters(1, 0));
    const Fit expected = fit(first, options_of(5));
    for (const int threads : {1, 2, 5}) {
      for (const int chunk : {5, 33, 700, 3000}) {
        BackendSession session(backend_, dataset, parameters(threads, chunk));
        const Fit found = fit(session, options_of(5));
        EXPECT_EQ(found.centroids, expected.centroids) << threads << ' ' << chunk;
        EXPECT_EQ(found.labels, expected.labels) << threads << ' ' << chunk;
        EXPECT_EQ(found.counts, expected.counts) << threads << ' ' << chunk;
        EXPECT_EQ(found.result.inertia, expected.result.inertia) << threads << ' ' << chunk;
      }
    }
  }
}

TEST_F(HybridSteps, AreCanonicalOnFloat64) {
  const Dataset dataset = data(DType::float64);
  static constexpr BackendInfo kExact = exact_step_info("the definition");
  const auto backend = std::make_shared<const LoadedBackend>(
      "fake", make_plugin_header("exact", "1"), new StepBackend<fake::FakeStep, kExact>,
      std::vector<DeviceInfo>(1), "");
  BackendSession exact(backend, dataset, backend->default_parameters());
  BackendSession session(backend_, dataset, parameters(4, 64));
  const Fit expected = fit(exact, options_of(5));
  const Fit found = fit(session, options_of(5));
  EXPECT_EQ(found.centroids, expected.centroids);
  EXPECT_EQ(found.labels, expected.labels);
}

// Without the slow cases; the complete suite runs on machines with a device.
TEST_F(HybridSteps, PassTheSuite) {
  for (const char* glob :
       {"lattice/*", "stop/*", "empty/*", "observe/*", "cancel/*", "partial/*", "session/*"}) {
    conformance::Options options;
    options.glob = glob;
    const conformance::Report report = conformance::run(*backend_, options);
    EXPECT_TRUE(report.verified()) << glob;
    for (const conformance::Result& result : report.results) {
      EXPECT_TRUE(result.outcome != conformance::Outcome::failed)
          << result.name << ": " << result.message;
    }
  }
}

TEST_F(HybridSteps, LabelOnlyWhatIsAssigned) {
  const Dataset dataset = data(DType::float32, 1000);
  BackendSession session(backend_, dataset, parameters(2, 250));
  FitOptions options = options_of(3);
  // Profiling gives sums and inertia separate passes, which need no labels from the device.
  options.profile = true;
  options.observe = kObserveInertia;
  struct : Observer {
    bool on_iteration(const IterationRecord&) noexcept override { return true; }
    bool stop_requested() const noexcept override { return false; }
  } observer;
  fit(session, options, &observer);
  EXPECT_EQ(hybrid_device.starts, 4 * (3 + 1));
  EXPECT_EQ(hybrid_device.abandons, 0);
}

TEST_F(HybridSteps, ReportCopiesOfAProfiledFit) {
  const Dataset dataset = data(DType::float32, 1000);
  BackendSession session(backend_, dataset, parameters(2, 250));
  FitOptions options = options_of(3);
  options.profile = true;
  const Fit profiled = fit(session, options);
  EXPECT_EQ(profiled.result.phases.transfer_ms, 3 * 0x1p-20);
  EXPECT_GE(profiled.result.phases.assignment_ms, 0);
  options.profile = false;
  EXPECT_LT(fit(session, options).result.phases.transfer_ms, 0);
}

TEST_F(HybridSteps, PassOnErrorsOfTheDevice) {
  const Dataset dataset = data(DType::float32);
  BackendSession session(backend_, dataset, parameters(3, 100));
  const Fit expected = fit(session, options_of(4));
  for (const int chunk : {1, 2, 19, 20, 21, 77}) {
    for (const bool at_start : {true, false}) {
      hybrid_device.reset();
      (at_start ? hybrid_device.fails_at_start : hybrid_device.fails_at_arrival) = chunk;
      try {
        fit(session, options_of(4));
        ADD_FAILURE() << chunk;
      } catch (const BackendError& error) {
        const std::string what = at_start ? "the start failed" : "the labelling failed";
        EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
      }
      EXPECT_EQ(hybrid_device.abandons, 1);
      hybrid_device.reset();
      EXPECT_EQ(fit(session, options_of(4)).labels, expected.labels);
    }
  }
}

// No worker has blocks to process, so the thread of the fit polls for cancellation while it waits.
TEST_F(HybridSteps, AreCancelledWhileTheDeviceWorks) {
  struct : Observer {
    bool on_iteration(const IterationRecord&) noexcept override { return true; }
    bool stop_requested() const noexcept override { return stop; }
    std::atomic<bool> stop{false};
  } observer;
  const Dataset dataset = data(DType::float32);
  BackendSession session(backend_, dataset, parameters(3, 100));
  hybrid_device.hangs = true;
  std::thread stopper([&] {
    while (hybrid_device.starts == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    observer.stop = true;
  });
  const Fit cancelled = fit(session, options_of(4), &observer);
  stopper.join();
  EXPECT_TRUE(cancelled.cancelled);
  EXPECT_EQ(cancelled.result.iterations, 0);
  EXPECT_EQ(hybrid_device.abandons, 1);
  hybrid_device.reset();
  EXPECT_FALSE(fit(session, options_of(4)).cancelled);
}

}  // namespace
}  // namespace lloyd
