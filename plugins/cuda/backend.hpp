// CudaBackend: a complete backend, made of a plugin class that describes the backend and creates
// its steps.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <lloyd/plugin/abi/device_cache.hpp>
#include <lloyd/plugin/abi/device_memory.hpp>
#include <lloyd/plugin/abi/device_passes.hpp>
#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/abi/resident_seeding.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>
#include <lloyd/plugin/abi/session_notes.hpp>
#include <lloyd/plugin/plugin.hpp>
#include <lloyd/plugin/sdk/guard.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/device/check.hpp"
#include "cuda/device/device.hpp"
#include "cuda/loop/loop.hpp"
#include "cuda/memory/memory_estimate.hpp"
#include "cuda/parameters.hpp"
#include "cuda/rows/device_memory.hpp"
#include "cuda/rows/device_rows.hpp"
#include "cuda/seeding/device_seeding.hpp"

namespace lloyd_cuda {

/// Capabilities of a CUDA backend: samples come from host memory and are packed on the device, or
/// are in device memory.
inline constexpr std::uint64_t kCudaCapabilities =
    lloyd::kCapabilityFloat32 | lloyd::kCapabilityFloat64 | lloyd::kCapabilityStrided |
    lloyd::kCapabilityHostMemory | lloyd::kCapabilityDeviceMemory;

/// Description of a backend that computes distances in the type of the samples (for float64: by the
/// definition) and exact sums. Texts and schema must live as long as the plugin.
template <std::int64_t Count>
constexpr lloyd::BackendInfo float32_info(const char* summary, std::int32_t preference,
                                          const lloyd::ParameterInfo (&parameters)[Count]) {
  lloyd::BackendInfo info;
  info.summary = summary;
  info.algorithm = "lloyd";
  info.capabilities = kCudaCapabilities;
  info.accuracy = lloyd::Accuracy::float32;
  info.accuracy_float64 = lloyd::Accuracy::exact;
  info.reproducibility = lloyd::Reproducibility::threads;
  info.reproducibility_float64 = lloyd::Reproducibility::canonical;
  info.preference = preference;
  info.reproducibility_reason = "distances of float32 samples are computed in float32";
  info.set_parameters(parameters);
  return info;
}

/// A session that runs DeviceLoop over a step of `Plugin` and passes the step's notes on.
template <class Plugin, class T>
class CudaSession final : public lloyd::Session,
                          public lloyd::PassKernels,
                          public lloyd::DevicePasses,
                          public lloyd::ResidentSeeding,
                          public lloyd::SeedingKernels,
                          public lloyd::SessionNotes,
                          public lloyd::DeviceResults,
                          public lloyd::DeviceCache {
 public:
  /// Copies the samples that fit to the device; the others are streamed in each pass. Samples in
  /// device memory are read in place where the step can. Throws StatusError.
  CudaSession(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters)
      : device_(static_cast<int>(parameters.integer("device"))) {
    const DeviceScope scope(device_);
    check_device_rows(dataset, device_);
    parts_ = std::make_unique<Parts>(dataset, parameters, read_limits(device_));
  }

  lloyd::Status fit(const lloyd::FitSpec& spec, lloyd::Observer* observer,
                    lloyd::FitResult& result) noexcept override {
    return on_request([&](Parts& parts) { parts.loop.fit(spec, observer, result); });
  }
  lloyd::Status label(const lloyd::LabelRequest& request, lloyd::Observer* observer,
                      lloyd::LabelResult& result) noexcept override {
    return on_request([&](Parts& parts) { parts.loop.label(request, observer, result); });
  }
  lloyd::Status partial(const lloyd::PartialRequest& request, lloyd::Observer* observer,
                        lloyd::PartialResult& result) noexcept override {
    return on_request([&](Parts& parts) { parts.loop.partial(request, observer, result); });
  }
  void* query(const char* interface_name) noexcept override {
    const std::string_view name(interface_name);
    if (name == lloyd::kPassKernels) return static_cast<lloyd::PassKernels*>(this);
    if (name == lloyd::kDevicePasses) return static_cast<lloyd::DevicePasses*>(this);
    if (name == lloyd::kSeedingKernels) return static_cast<lloyd::SeedingKernels*>(this);
    if (name == lloyd::kResidentSeeding) return static_cast<lloyd::ResidentSeeding*>(this);
    if (name == lloyd::kDeviceResults) return static_cast<lloyd::DeviceResults*>(this);
    if (name == lloyd::kSessionNotes) return static_cast<lloyd::SessionNotes*>(this);
    if (name == lloyd::kDeviceCache) return static_cast<lloyd::DeviceCache*>(this);
    return nullptr;
  }
  lloyd::Status begin(const lloyd::PassOptions& options) noexcept override {
    return on_request([&](Parts& parts) { parts.loop.begin_passes(options); });
  }
  lloyd::Status pass(const lloyd::PassRequest& request, lloyd::Observer* observer,
                     lloyd::PassResult& result) noexcept override {
    return on_request([&](Parts& parts) { parts.loop.pass(request, observer, result); });
  }
  lloyd::Status pass(const lloyd::DevicePassRequest& request, lloyd::Observer* observer,
                     lloyd::DevicePassResult& result) noexcept override {
    return on_request([&](Parts& parts) { parts.loop.pass(request, observer, result); });
  }
  lloyd::Status farthest(std::int64_t wanted, lloyd::Observer* observer, lloyd::FarSample* samples,
                         std::int64_t* count) noexcept override {
    return on_request(
        [&](Parts& parts) { *count = parts.loop.farthest(wanted, observer, samples); });
  }
  lloyd::Status labels(std::int32_t* labels) noexcept override {
    return on_device([&] { parts_->loop.pass_labels(labels); });
  }
  void end() noexcept override {
    on_device([&] { parts_->loop.end_passes(); });
  }

  lloyd::Status nearest(const lloyd::NearestRequest& request,
                        lloyd::Observer* observer) noexcept override {
    return on_seeding([&](Seeding& seeding) { seeding.nearest(request, observer); });
  }
  lloyd::Status gains(const lloyd::GainsRequest& request,
                      lloyd::Observer* observer) noexcept override {
    return on_seeding([&](Seeding& seeding) { seeding.gains(request, observer); });
  }
  lloyd::Status begin_seeding() noexcept override {
    return on_seeding([](Seeding& seeding) { seeding.begin(); });
  }
  lloyd::Status add(std::int64_t row, lloyd::Observer* observer,
                    double* largest) noexcept override {
    return on_seeding([&](Seeding& seeding) { *largest = seeding.add(row, observer); });
  }
  lloyd::Status weigh(const lloyd::WeightScale& scale, lloyd::Observer* observer,
                      std::int64_t* total) noexcept override {
    return on_seeding([&](Seeding& seeding) { *total = seeding.weigh(scale, observer); });
  }
  lloyd::Status find(const std::int64_t* positions, std::int64_t count,
                     std::int64_t* rows) noexcept override {
    return on_seeding([&](Seeding& seeding) { seeding.find(positions, count, rows); });
  }
  lloyd::Status rate(const std::int64_t* rows, std::int64_t count, lloyd::Observer* observer,
                     std::int64_t* gains) noexcept override {
    return on_seeding([&](Seeding& seeding) { seeding.rate(rows, count, observer, gains); });
  }
  void end_seeding() noexcept override {
    on_device([&] { parts_->seeding.end(); });
  }
  lloyd::Status copy_results(const lloyd::DeviceArrays& arrays) noexcept override {
    return on_device([&] { parts_->loop.copy_results(arrays); });
  }
  lloyd::Status evict() noexcept override {
    return on_device([&] {
      if (parts_->evictor.size() == 0) {
        int l2_bytes = 0;
        check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device_),
              "reading the size of the device's L2");
        parts_->evictor.resize(l2_bytes);
      }
      parts_->evictor.fill_bytes(0, parts_->stream);  // replaces the content of the L2
      parts_->stream.synchronize();
    });
  }
  const char* notes() const noexcept override {
    // The returned text stays valid until the next request.
    if (!std::exchange(notes_current_, true)) {
      notes_.clear();  // stays empty if notes() throws
      lloyd::guarded([&] { notes_ = parts_->step->notes(); });
    }
    return notes_.c_str();
  }
  void release() noexcept override {
    on_device([&] { parts_.reset(); });
    delete this;
  }

 private:
  using Seeding = DeviceSeeding<T>;

  struct Parts {
    Parts(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters,
          const DeviceLimits& limits)
        : view(dataset),
          step(Plugin::template make_step<T>(dataset, parameters, limits,
                                             wait_for_rows(stream, dataset))),
          loop(*step, dataset, stream),
          seeding(*step, dataset, stream) {
      signal_rows_read(stream, dataset);
    }
    lloyd::DatasetView view;
    Stream stream;
    std::unique_ptr<Step<T>> step;
    DeviceLoop<T> loop;
    Seeding seeding;
    DeviceBuffer<char> evictor;  // as large as the L2; empty before the first evict()
  };

  struct RequestScope {
    explicit RequestScope(Parts& of) : parts(of) { parts.seeding.end(); }
    ~RequestScope() {
      parts.loop.end_request();
      // Even after an error, kernels may still be reading samples.
      lloyd::guarded([&] { signal_rows_read(parts.stream, parts.view); });
    }
    RequestScope(const RequestScope&) = delete;
    RequestScope& operator=(const RequestScope&) = delete;
    Parts& parts;
  };

  // A request that changes the notes. It ends a seeding and frees its memory.
  template <class Body>
  lloyd::Status on_request(Body&& body) noexcept {
    notes_current_ = false;
    return on_device([&] {
      const RequestScope scope(*parts_);
      body(*parts_);
    });
  }
  // After any error, only a new seeding can follow.
  template <class Body>
  lloyd::Status on_seeding(Body&& body) noexcept {
    const lloyd::Status status = on_device([&] {
      body(parts_->seeding);
      signal_rows_read(parts_->stream, parts_->view);
    });
    if (!status.ok()) end_seeding();
    return status;
  }
  template <class Body>
  lloyd::Status on_device(Body&& body) noexcept {
    return lloyd::guarded([&] {
      const DeviceScope scope(device_);
      body();
    });
  }

  int device_;
  std::unique_ptr<Parts> parts_;
  mutable std::string notes_;
  mutable bool notes_current_ = false;  // true: notes_ belong to the last request
};

/// A backend of `Plugin`, which has
/// - `static constexpr lloyd::BackendInfo kInfo`, whose schema contains device_parameter();
/// - `static lloyd::Status supports(shape, parameters, spec)`;
/// - `static lloyd::MemoryEstimate estimate(shape, parameters)`: the memory of its step, samples
///   included;
/// - `template <class T> static std::unique_ptr<Step<T>> make_step(dataset, parameters, limits,
///   stream)`.
template <class Plugin>
class CudaBackend final : public lloyd::Backend {
 public:
  const lloyd::BackendInfo* info() const noexcept override { return &Plugin::kInfo; }

  lloyd::Status supports(const lloyd::ProblemShape& shape, const lloyd::ParameterList& parameters,
                         const lloyd::FitSpec& spec) const noexcept override {
    return lloyd::guarded([&] {
      lloyd::Status status = check_device(parameters.integer("device"));
      if (status.ok()) status = Plugin::supports(shape, parameters, spec);
      if (!status.ok()) throw lloyd::StatusError(status);
    });
  }

  lloyd::Status estimate(const lloyd::ProblemShape& shape, const lloyd::ParameterList& parameters,
                         const lloyd::FitSpec&,
                         lloyd::MemoryEstimate& memory) const noexcept override {
    return lloyd::guarded([&] {
      const lloyd::MemoryEstimate step = Plugin::estimate(shape, parameters);
      const lloyd::MemoryEstimate loop = shape.dtype == lloyd::DType::float32
                                             ? DeviceLoop<float>::estimate(shape)
                                             : DeviceLoop<double>::estimate(shape);
      memory.host_bytes = add_bytes(step.host_bytes, loop.host_bytes);
      memory.device_bytes = add_bytes(step.device_bytes, loop.device_bytes);
    });
  }

  lloyd::Status open(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters,
                     lloyd::Session** session) noexcept override {
    return lloyd::guarded([&] {
      *session = nullptr;
      if (dataset.dtype == lloyd::DType::float32) {
        *session = new CudaSession<Plugin, float>(dataset, parameters);
      } else {
        *session = new CudaSession<Plugin, double>(dataset, parameters);
      }
    });
  }

  /// DeviceMemory.
  void* query(const char* interface_name) noexcept override {
    if (std::string_view(interface_name) != lloyd::kDeviceMemory) return nullptr;
    return static_cast<lloyd::DeviceMemory*>(&memory_);
  }
  void release() noexcept override { delete this; }

  /// Implements PluginDescriptor::create.
  static lloyd::Status create(lloyd::Backend** backend) noexcept {
    return lloyd::guarded([&] { *backend = new CudaBackend; });
  }
  /// Implements PluginDescriptor::probe.
  static lloyd::Status probe(lloyd::DeviceList* devices) noexcept {
    return lloyd_cuda::probe(devices);
  }

 private:
  CudaDeviceMemory memory_;
};

}  // namespace lloyd_cuda
