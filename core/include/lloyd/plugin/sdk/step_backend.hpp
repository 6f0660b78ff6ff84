// StepBackend: a complete backend built from a Step class template and a BackendInfo.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>
#include <lloyd/plugin/abi/windowed_passes.hpp>
#include <lloyd/plugin/sdk/guard.hpp>
#include <lloyd/plugin/sdk/lloyd_loop.hpp>
#include <lloyd/plugin/sdk/step_checks.hpp>

namespace lloyd {

/// A session that runs LloydLoop over a step, which it constructs from (DatasetView,
/// ParameterList).
template <Step S>
class StepSession final : public Session, public PassKernels, public WindowedPasses {
 public:
  /// What `dataset` points to must outlive the session. If the samples are not in memory, the
  /// session serves WindowedPasses only.
  StepSession(const DatasetView& dataset, const ParameterList& parameters)
      : dataset_(dataset),
        values_(parameters.values, parameters.values + parameters.count),
        step_(dataset, parameters),
        loop_(step_, dataset) {}

  /// Calls S::supports() first and returns its status if it is not ok.
  Status fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept override {
    return guarded([&] {
      check_supported(spec);
      loop_.fit(spec, observer, result);
    });
  }
  Status label(const LabelRequest& request, Observer* observer,
               LabelResult& result) noexcept override {
    return guarded([&] { loop_.label(request, observer, result); });
  }
  Status partial(const PartialRequest& request, Observer* observer,
                 PartialResult& result) noexcept override {
    return guarded([&] { loop_.partial(request, observer, result); });
  }
  /// PassKernels or WindowedPasses, and the interfaces of the step.
  void* query(const char* interface_name) noexcept override {
    const std::string_view name = interface_name;
    if (dataset_.data == nullptr) {
      if (name == kWindowedPasses) return static_cast<WindowedPasses*>(this);
      if (name == kPassKernels || name == kSeedingKernels) return nullptr;  // they read samples
    }
    if (name == kPassKernels) return static_cast<PassKernels*>(this);
    return step_.query(name);
  }
  void release() noexcept override { delete this; }

  Status begin(const PassOptions& options) noexcept override {
    return guarded([&] { loop_.begin_passes(options); });
  }
  Status pass(const PassRequest& request, Observer* observer,
              PassResult& result) noexcept override {
    return guarded([&] { loop_.pass(request, observer, result); });
  }
  Status pass(const PassRequest& request, RowWindows& windows, Observer* observer,
              PassResult& result) noexcept override {
    return guarded([&] { loop_.pass(request, observer, result, &windows); });
  }
  Status farthest(std::int64_t wanted, Observer* observer, FarSample* samples,
                  std::int64_t* count) noexcept override {
    return guarded([&] { *count = loop_.farthest(wanted, observer, samples); });
  }
  Status farthest(std::int64_t wanted, RowWindows& windows, Observer* observer, FarSample* samples,
                  std::int64_t* count) noexcept override {
    return guarded([&] { *count = loop_.farthest(wanted, observer, samples, &windows); });
  }
  Status labels(std::int32_t* labels) noexcept override {
    return guarded([&] { loop_.pass_labels(labels); });
  }
  void end() noexcept override { loop_.end_passes(); }

 private:
  void check_supported(const FitSpec& spec) const {
    ProblemShape shape;
    shape.samples = dataset_.samples;
    shape.features = dataset_.features;
    shape.stride = dataset_.stride;
    shape.clusters = spec.clusters;
    shape.dtype = dataset_.dtype;
    ParameterList parameters;
    parameters.values = values_.data();
    parameters.count = static_cast<std::int64_t>(values_.size());
    const Status status =
        detail::call_step("supports()", [&] { return S::supports(shape, parameters, spec); });
    if (!status.ok()) throw StatusError(status);
  }

  DatasetView dataset_;
  std::vector<ParameterValue> values_;  // a copy: the list of open() is valid during that call only
  S step_;
  LloydLoop<S> loop_;
};

namespace detail {

// The bytes that a function of the step returns. Throws StatusError if they are negative or beyond
// 2^62, as after an overflow.
template <class Estimate>
std::int64_t checked_estimate(const char* function, const Estimate& estimate) {
  constexpr std::int64_t kMaxBytes = std::int64_t{1} << 62;
  const std::int64_t bytes = call_step(function, estimate);
  if (bytes >= 0 && bytes <= kMaxBytes) return bytes;
  throw StatusError(StatusCode::internal, std::string("the step's ") + function + " returns " +
                                              std::to_string(bytes) +
                                              " bytes; 0 to 2^62 are possible");
}

}  // namespace detail

/// Description of a backend whose steps label by the definition, in float64: exact and canonical.
constexpr BackendInfo exact_step_info(const char* summary) {
  BackendInfo info;
  info.summary = summary;
  info.algorithm = "lloyd";
  info.capabilities = kStepCapabilities;
  info.accuracy = info.accuracy_float64 = Accuracy::exact;
  info.reproducibility = info.reproducibility_float64 = Reproducibility::canonical;
  return info;
}

/// A backend made of the steps `StepOf<float>` and `StepOf<double>`, for samples in host memory or
/// in row windows. Use it with LLOYD_EXPORT_PLUGIN.
template <template <class> class StepOf, const BackendInfo& Info>
class StepBackend final : public Backend {
  static_assert(detail::check_step_class<StepOf<float>>());
  static_assert(detail::check_step_class<StepOf<double>>());
  static constexpr bool kReadsRowWindows = (Info.capabilities & kCapabilityRowWindows) != 0;
  static_assert(!kReadsRowWindows ||
                    (ReadsRowWindows<StepOf<float>> && ReadsRowWindows<StepOf<double>>),
                "a backend with kCapabilityRowWindows needs steps with use_samples()");

 public:
  /// The template's Info.
  const BackendInfo* info() const noexcept override { return &Info; }

  Status supports(const ProblemShape& shape, const ParameterList& parameters,
                  const FitSpec& spec) const noexcept override {
    return guarded([&] {
      const Status status = detail::call_step("supports()", [&]() -> Status {
        return shape.dtype == DType::float32 ? StepOf<float>::supports(shape, parameters, spec)
                                             : StepOf<double>::supports(shape, parameters, spec);
      });
      if (!status.ok()) throw StatusError(status);
    });
  }

  Status estimate(const ProblemShape& shape, const ParameterList& parameters, const FitSpec&,
                  MemoryEstimate& memory) const noexcept override {
    return guarded([&] {
      const bool is_float32 = shape.dtype == DType::float32;
      const std::int64_t workers = detail::call_step("estimate_workers()", [&]() -> std::int64_t {
        return is_float32 ? StepOf<float>::estimate_workers(parameters)
                          : StepOf<double>::estimate_workers(parameters);
      });
      const std::int64_t step = detail::checked_estimate("estimate_bytes()", [&]() -> std::int64_t {
        return is_float32 ? StepOf<float>::estimate_bytes(shape, parameters)
                          : StepOf<double>::estimate_bytes(shape, parameters);
      });
      // In float64, because the products may overflow 64-bit integers.
      const double k = static_cast<double>(shape.clusters);
      const double cells = k * static_cast<double>(shape.features);
      // A worker has sums, counts and the candidates of a relocation; the loop has sums of all
      // workers, centroids three times, and the candidates of all workers, sorted.
      const double worker = SumPlan::kMaxBytesPerCell * cells + k * (16 + sizeof(FarSample));
      const double sums = SumPlan::kMaxBytesPerCell * cells + 8 * k;
      const double bytes = static_cast<double>(step) + 24 * cells + 2 * k * sizeof(FarSample) +
                           sums + static_cast<double>(workers) * worker;
      memory.host_bytes = bytes < 0x1p62 ? static_cast<std::int64_t>(bytes) : std::int64_t{1} << 62;
      memory.device_bytes =
          detail::checked_estimate("estimate_device_bytes()", [&]() -> std::int64_t {
            return is_float32 ? StepOf<float>::estimate_device_bytes(shape, parameters)
                              : StepOf<double>::estimate_device_bytes(shape, parameters);
          });
    });
  }

  Status open(const DatasetView& dataset, const ParameterList& parameters,
              Session** session) noexcept override {
    return guarded([&] {
      *session = nullptr;
      if (dataset.data == nullptr && !kReadsRowWindows) {
        throw StatusError(StatusCode::unsupported, "the backend does not read rows in windows");
      }
      detail::call_step("constructor", [&] {
        if (dataset.dtype == DType::float32) {
          *session = new StepSession<StepOf<float>>(dataset, parameters);
        } else {
          *session = new StepSession<StepOf<double>>(dataset, parameters);
        }
      });
    });
  }

  void* query(const char*) noexcept override { return nullptr; }
  void release() noexcept override { delete this; }

  /// Creates a backend on the heap, for PluginDescriptor::create.
  static Status create(Backend** backend) noexcept {
    return guarded([&] { *backend = new StepBackend; });
  }

  /// The devices that `StepOf<float>::probe` lists, for PluginDescriptor::probe.
  static Status probe(DeviceList* devices) noexcept {
    return guarded([&] {
      const Status status =
          detail::call_step("probe()", [&] { return StepOf<float>::probe(devices); });
      if (!status.ok()) throw StatusError(status);
    });
  }
};

}  // namespace lloyd
