// run_trial_work(): results that were checked before, counters, energy and cold caches.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/plugin/abi/device_cache.hpp>

#include "bad_plugins/support/misbehaving.hpp"
#include "experiment/trial/trial_work.hpp"
#include "unit/support/experiment_fake_run.hpp"

namespace lloyd::experiment {
namespace {

TEST(TrialWork, EqualLabelsAndCentroidsAreCheckedOnce) {
  const Dataset dataset = make_blobs({.samples = 500, .features = 3, .centers = 4});
  const auto backend = fake::load("sequential");
  const ParameterSet parameters = backend->default_parameters();
  FitOptions options;
  options.clusters = 4;
  const std::vector<std::vector<double>> starts = {seed_centroids(dataset, 4, {})};
  const auto after_one = [&](const std::vector<AfterOne>& before) {
    fake::Switch observer;
    std::unique_ptr<BackendSession> session;
    TrialWork work{backend, parameters, dataset, options, starts};
    work.checked_before = before;
    return run_trial_work(work, observer, session).after_one.value();
  };

  const AfterOne first = after_one({});
  EXPECT_EQ(first.labels.samples, 500);
  EXPECT_EQ(first.labels.wrong, 0);
  // A verdict that no check would give shows where it comes from.
  AfterOne marked = first;
  marked.labels.wrong = 77;
  EXPECT_EQ(after_one({marked}).labels.wrong, 77);
  AfterOne other = marked;
  ++other.digest;
  EXPECT_EQ(after_one({other}).labels.wrong, 0);
  EXPECT_EQ(after_one({other, marked}).labels.wrong, 77);
}

// One successful trial of a setting with few samples.
class SmallTrial : public testing::Test {
 protected:
  // A backend that is a plugin, not an external program.
  static std::shared_ptr<const LoadedBackend> plugin(const DeviceInfo& device = {}) {
    return std::make_shared<const LoadedBackend>("fake.so", make_plugin_header("fake", "1"),
                                                 new StepBackend<fake::FakeStep, fake::kInfo>,
                                                 std::vector<DeviceInfo>{device}, "");
  }

  TrialOutcome outcome_of(const std::shared_ptr<const LoadedBackend>& backend,
                          const std::function<void(TrialWork&)>& change) {
    const ParameterSet parameters = backend->default_parameters();
    TrialWork work{backend, parameters, dataset_, options_, starts_};
    change(work);
    fake::Switch observer;
    std::unique_ptr<BackendSession> session;
    return run_trial_work(work, observer, session);
  }

  Measurements run(const std::shared_ptr<const LoadedBackend>& backend,
                   const std::function<void(TrialWork&)>& change) {
    const TrialOutcome outcome = outcome_of(backend, change);
    EXPECT_EQ(outcome.failure, "");
    return outcome.fit.value();
  }

  Dataset dataset_ = make_blobs({.samples = 500, .features = 3, .centers = 4});
  FitOptions options_{.clusters = 4};
  std::vector<std::vector<double>> starts_ = {seed_centroids(dataset_, 4, {})};
};

// Whether the kernel permits counters depends on the machine.
TEST_F(SmallTrial, CountsOrRefusesIfRequested) {
  EXPECT_FALSE(run(plugin(), [](TrialWork&) {}).counters);
  const auto request = [](TrialWork& work) { work.counters = true; };
  const Measurements fit = run(plugin(), request);
  ASSERT_TRUE(fit.counters);
  if (fit.counters->refusal.empty()) {
    EXPECT_GT(fit.counters->instructions.value_or(0), 0);
  } else {
    EXPECT_FALSE(fit.counters->cycles && fit.counters->instructions && fit.counters->cache_misses);
  }
  const auto program = fake::load("sequential");  // has the path of an external program
  EXPECT_FALSE(run(program, request).counters);
}

TEST_F(SmallTrial, MeasuresTheEnergyOfLongFits) {
  ::unsetenv("CUDA_VISIBLE_DEVICES");  // the fake library has every device
  const auto backend = plugin(fake::gpu_device());
  GpuMonitor gpus(LLOYD_FAKE_NVML "new.so");
  const auto energy = [&](double min_ms) {
    return run(backend,
               [&](TrialWork& work) {
                 work.gpu = gpus.find(*backend, work.parameters);
                 EXPECT_TRUE(work.gpu && work.gpu->device != nullptr);
                 work.min_energy_ms = min_ms;
               })
        .energy_j;
  };
  // The sensor's value grows by 2.5 J between the two readings of a trial.
  EXPECT_DOUBLE_EQ(energy(0), 2.5);
  EXPECT_TRUE(std::isnan(energy(1e300)));
}

TEST_F(SmallTrial, HasNoEnergyWithoutASensor) {
  const auto on_gpu = plugin(fake::gpu_device());
  for (const auto& backend : {on_gpu, plugin()}) {
    GpuMonitor gpus(backend == on_gpu ? LLOYD_FAKE_NVML "mute.so" : LLOYD_FAKE_NVML "new.so");
    const Measurements fit = run(backend, [&](TrialWork& work) {
      work.gpu = gpus.find(*backend, work.parameters);
      work.min_energy_ms = 0;
    });
    EXPECT_TRUE(std::isnan(fit.energy_j));
  }
}

// Writes "e" for an eviction, and returns `status` from it.
struct LoggedCache final : DeviceCache {
  Status evict() noexcept override {
    log += 'e';
    return status;
  }
  std::string log;
  Status status;
};

class ColdTrial : public SmallTrial {
 protected:
  ColdTrial() { starts_ = std::vector<std::vector<double>>(3, starts_.front()); }

  // A backend whose fits write "f" into the log of cache_, which its sessions offer.
  std::shared_ptr<const LoadedBackend> logging(const DeviceInfo& device) {
    bad::Misbehaviour how;
    how.fit = [this](Session& honest, const FitSpec& spec, Observer* observer, FitResult& result) {
      cache_.log += 'f';
      return honest.fit(spec, observer, result);
    };
    how.query = [this](Session& honest, const char* name) -> void* {
      if (std::string_view(name) != kDeviceCache) return honest.query(name);
      return static_cast<DeviceCache*>(&cache_);
    };
    return std::make_shared<const LoadedBackend>(
        "fake.so", make_plugin_header("fake", "1"),
        new bad::MisbehavingBackend(std::move(how), new StepBackend<fake::FakeStep, fake::kInfo>),
        std::vector<DeviceInfo>{device}, "");
  }

  LoggedCache cache_;
};

TEST_F(ColdTrial, EvictsTheCacheBeforeEachTimedFit) {
  const auto cold = [](TrialWork& work) { work.cold_l2 = true; };
  run(logging(fake::gpu_device()), cold);
  EXPECT_EQ(cache_.log, "fefefef") << "the warm-up, then three restarts";
  cache_.log.clear();
  run(logging(fake::gpu_device()), [](TrialWork&) {});
  EXPECT_EQ(cache_.log, "ffff") << "not requested";
  cache_.log.clear();
  run(logging({}), cold);
  EXPECT_EQ(cache_.log, "ffff") << "not on a GPU";
}

TEST_F(ColdTrial, FailsIfTheCacheCannotBeEvicted) {
  const auto cold = [](TrialWork& work) { work.cold_l2 = true; };
  cache_.status = Status::error(StatusCode::out_of_memory, "the device ran out of memory");
  const TrialOutcome failed = outcome_of(logging(fake::gpu_device()), cold);
  EXPECT_EQ(failed.failure, "fake: the device ran out of memory");
  EXPECT_FALSE(failed.probe_failed);
  EXPECT_EQ(cache_.log, "fe");
  EXPECT_EQ(outcome_of(plugin(fake::gpu_device()), cold).failure,
            "fake: 'cold_l2' needs a backend that can evict the L2 of its GPU (interface "
            "lloyd.device_cache/1)");
  EXPECT_EQ(outcome_of(plugin(), cold).failure, "");
}

}  // namespace
}  // namespace lloyd::experiment
