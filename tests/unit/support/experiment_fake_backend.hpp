// Fake backends for tests of the experiment: one that works, and some that fail.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lloyd/error.hpp>
#include <lloyd/internal/suggestion.hpp>
#include <lloyd/parameter_set.hpp>
#include <lloyd/plugin/abi/abi.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/step_backend.hpp>
#include <lloyd/registry.hpp>

namespace lloyd::fake {

inline constexpr const char* kLayouts[] = {"soa", "aos"};
inline constexpr ParameterInfo kParameters[] = {integer_parameter("threads", 0, 0, 1024, "0: all"),
                                                choice_parameter("layout", kLayouts, "")};

inline constexpr BackendInfo kInfo = {
    .summary = "a fake",
    .algorithm = "lloyd",
    .capabilities = kCapabilityFloat32 | kCapabilityHostMemory,
    .accuracy = Accuracy::exact,
    .accuracy_float64 = Accuracy::exact,
    .parameters = kParameters,
    .parameter_count = 2,
};

template <class T>
class FakeStep : public StepBase {
 public:
  using value_type = T;
  FakeStep(const DatasetView& dataset, const ParameterList&) : dataset_(dataset) {}

  void begin_pass(const double* centroids, std::int64_t clusters, const StepPassOptions&) {
    centroids_ = centroids;
    clusters_ = clusters;
  }
  std::int64_t assign(RowRange rows, std::int32_t* labels) {
    std::int64_t changed = 0;
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      const T* x = static_cast<const T*>(dataset_.data) + (rows.begin + i) * dataset_.stride;
      const Nearest nearest = nearest_centroid(x, centroids_, clusters_, dataset_.features);
      changed += labels[i] != nearest.label;
      labels[i] = nearest.label;
    }
    return changed;
  }

 private:
  DatasetView dataset_;
  const double* centroids_ = nullptr;
  std::int64_t clusters_ = 0;
};

/// Supports at most eight clusters.
template <class T>
class LimitedStep : public FakeStep<T> {
 public:
  using FakeStep<T>::FakeStep;
  static Status supports(const ProblemShape& shape, const ParameterList&, const FitSpec&) {
    if (shape.clusters <= 8) return {};
    return Status::error(StatusCode::unsupported,
                         "at most 8 clusters, not " + std::to_string(shape.clusters));
  }
};

/// open() fails.
template <class T>
class BrokenStep : public FakeStep<T> {
 public:
  BrokenStep(const DatasetView& dataset, const ParameterList& parameters)
      : FakeStep<T>(dataset, parameters) {
    throw StatusError(StatusCode::device_error, "the device is on fire");
  }
};

/// A GPU that the backend "gpu" reports.
inline DeviceInfo gpu_device() {
  DeviceInfo device;
  device.index = 1;
  device.kind = DeviceKind::gpu;
  constexpr std::string_view kName = "NVIDIA H200";
  kName.copy(device.name, sizeof(device.name) - 1);
  return device;
}

template <template <class> class StepOf>
std::shared_ptr<const LoadedBackend> make(std::string_view name, std::string unavailable = {},
                                          const DeviceInfo& device = {}) {
  PluginHeader header = make_plugin_header("fake", "1.2.3");
  name.copy(header.name, sizeof(header.name) - 1);
  header.name[name.size()] = '\0';
  return std::make_shared<const LoadedBackend>("fake", header, new StepBackend<StepOf, kInfo>,
                                               std::vector<DeviceInfo>{device},
                                               std::move(unavailable));
}

/// The loader of these tests: "sequential" and "openmp" work; "limited" has a limit, "broken"
/// fails, "absent" has no device, "gpu" reports a GPU.
inline std::shared_ptr<const LoadedBackend> load(std::string_view name) {
  if (name == "sequential" || name == "openmp") return make<FakeStep>(name);
  if (name == "limited") return make<LimitedStep>(name);
  if (name == "broken") return make<BrokenStep>(name);
  if (name == "absent") return make<FakeStep>(name, "there is no device");
  if (name == "gpu") return make<FakeStep>(name, {}, gpu_device());
  throw InputError("unknown backend '" + std::string(name) + "'" +
                   suggestion(name, {"sequential", "openmp", "limited", "broken", "absent"}));
}

}  // namespace lloyd::fake
