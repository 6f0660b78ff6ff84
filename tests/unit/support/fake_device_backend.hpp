// A backend whose device is the host: addresses of its device memory cannot be dereferenced, so
// that a test crashes if the core reads samples itself.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/abi/device_memory.hpp>
#include <lloyd/plugin/sdk/guard.hpp>
#include <lloyd/plugin/sdk/row_statistics.hpp>
#include <lloyd/plugin/sdk/step_backend.hpp>
#include <lloyd/registry.hpp>

#include "unit/support/defined_statistics.hpp"
#include "unit/support/experiment_fake_backend.hpp"
#include "unit/support/seeding_fake_kernels.hpp"

namespace lloyd::fake {

/// What a test changes in the fake device, until its end.
struct DeviceLies {
  std::function<void(RowsDescription&)> describe = {};  ///< after a correct description
  bool hides_memory = false;                            ///< query() gives no DeviceMemory
  bool hides_kernels = false;                           ///< sessions have no SeedingKernels
};
inline DeviceLies device_lies;

/// Bit 62 of a user address is 0.
inline constexpr std::uintptr_t kDeviceBit = std::uintptr_t{1} << 62;

template <class T>
T* flip_address(T* address) {
  const std::uintptr_t flipped = reinterpret_cast<std::uintptr_t>(address) ^ kDeviceBit;
  return reinterpret_cast<T*>(flipped);  // NOLINT(performance-no-int-to-ptr)
}

inline bool is_device_address(const void* address) {
  return (reinterpret_cast<std::uintptr_t>(address) & kDeviceBit) != 0;
}

/// The view with an address that can be read. Throws StatusError if it is wrong.
inline DatasetView readable(DatasetView view) {
  if (view.memory_space == MemorySpace::host) return view;
  if (!is_device_address(view.data)) {
    throw StatusError(StatusCode::invalid_argument, "the samples are not in device memory");
  }
  view.data = flip_address(view.data);
  return view;
}

class FakeDeviceMemory final : public DeviceMemory {
 public:
  Status allocate(std::int32_t, std::int64_t bytes, void** memory) noexcept override {
    return guarded(
        [&] { *memory = flip_address(::operator new(static_cast<std::size_t>(bytes))); });
  }
  Status deallocate(std::int32_t, void* memory) noexcept override {
    if (memory != nullptr) ::operator delete(flip_address(memory));
    return {};
  }
  Status upload(std::int32_t, void*, const void* from, std::int64_t bytes,
                void* to) noexcept override {
    std::memcpy(flip_address(to), from, static_cast<std::size_t>(bytes));
    return {};
  }
  Status download(std::int32_t, void*, const void* from, std::int64_t bytes,
                  void* to) noexcept override {
    std::memcpy(to, flip_address(from), static_cast<std::size_t>(bytes));
    return {};
  }
  Status describe(const DatasetView& rows, RowsDescription& description) noexcept override {
    return guarded([&] {
      require_device(rows);
      describe_rows(readable(rows), description);
      if (device_lies.describe) device_lies.describe(description);
    });
  }
  Status copy_rows(const DatasetView& rows, const std::int64_t* row_numbers, std::int64_t count,
                   void* values) noexcept override {
    return guarded([&] {
      require_device(rows);
      const DatasetView view = readable(rows);
      ++copies;
      auto* to = static_cast<float*>(values);
      for (std::int64_t i = 0; i < count; ++i, to += view.features) {
        std::copy_n(static_cast<const float*>(view.data) + row_numbers[i] * view.stride,
                    view.features, to);
      }
    });
  }

  static inline int copies = 0;  ///< calls of copy_rows()

 private:
  static void require_device(const DatasetView& rows) {
    if (rows.memory_space == MemorySpace::device) return;
    throw StatusError(StatusCode::invalid_argument, "the samples are in host memory");
  }

  static void describe_rows(const DatasetView& view, RowsDescription& description) {
    const auto* const data = static_cast<const float*>(view.data);
    description.hash = 0;
    description.invalid_row = description.invalid_feature = -1;
    for (std::int64_t i = 0; i < view.samples; ++i) {
      for (std::int64_t j = 0; j < view.features; ++j) {
        const float value = data[i * view.stride + j];
        description.hash += value_hash(static_cast<std::uint64_t>(i * view.features + j),
                                       std::bit_cast<std::uint32_t>(value));
        if (std::isfinite(value) || description.invalid_row >= 0) continue;
        description.invalid_row = i;
        description.invalid_feature = j;
      }
    }
    const std::vector<FeatureStatistics> statistics =
        defined_statistics(data, view.samples, view.features, view.stride);
    std::copy(statistics.begin(), statistics.end(), description.statistics);
  }
};

class FakeDeviceSession final : public Session, public DeviceResults {
 public:
  FakeDeviceSession(Session* of_rows, const DatasetView& dataset)
      : session_(of_rows), kernels_(dataset), dataset_(dataset) {}

  Status fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept override {
    has_results_ = false;
    const Status status = session_->fit(spec, observer, result);
    if (status.ok()) keep(result.centroids, result.labels, result.counts, spec.clusters);
    return status;
  }
  Status label(const LabelRequest& request, Observer* observer,
               LabelResult& result) noexcept override {
    has_results_ = false;
    const Status status = session_->label(request, observer, result);
    if (status.ok()) keep(request.centroids, result.labels, result.counts, request.clusters);
    return status;
  }
  Status partial(const PartialRequest& request, Observer* observer,
                 PartialResult& result) noexcept override {
    has_results_ = false;
    return session_->partial(request, observer, result);
  }
  void* query(const char* interface_name) noexcept override {
    const std::string_view name = interface_name;
    if (name == kDeviceResults) return static_cast<DeviceResults*>(this);
    if (name == kSeedingKernels && !device_lies.hides_kernels) {
      return static_cast<SeedingKernels*>(&kernels_);
    }
    return session_->query(interface_name);
  }
  Status copy_results(const DeviceArrays& arrays) noexcept override {
    if (!has_results_) return Status::error(StatusCode::invalid_argument, "no results");
    copy(centroids_, arrays.centroids);
    copy(labels_, arrays.labels);
    copy(counts_, arrays.counts);
    return {};
  }
  void release() noexcept override {
    session_->release();
    delete this;
  }

 private:
  void keep(const double* centroids, const std::int32_t* labels, const std::int64_t* counts,
            std::int64_t clusters) {
    centroids_.assign(centroids, centroids + clusters * dataset_.features);
    labels_.assign(labels, labels + dataset_.samples);
    counts_.assign(counts, counts + clusters);
    has_results_ = true;
  }
  template <class T>
  static void copy(const std::vector<T>& from, T* to) {
    if (to != nullptr) std::copy(from.begin(), from.end(), flip_address(to));
  }

  Session* session_;
  FakeKernels kernels_;
  DatasetView dataset_;
  bool has_results_ = false;
  std::vector<double> centroids_;
  std::vector<std::int32_t> labels_;
  std::vector<std::int64_t> counts_;
};

inline constexpr BackendInfo kDeviceInfo = [] {
  BackendInfo info = kInfo;
  info.summary = "a fake device";
  info.capabilities |= kCapabilityStrided | kCapabilityDeviceMemory;
  info.reproducibility = info.reproducibility_float64 = Reproducibility::canonical;
  return info;
}();

/// Forwards to the fake that reads host memory.
class FakeDeviceBackend final : public Backend {
 public:
  const BackendInfo* info() const noexcept override { return &kDeviceInfo; }
  Status supports(const ProblemShape& shape, const ParameterList& parameters,
                  const FitSpec& spec) const noexcept override {
    return steps_.supports(shape, parameters, spec);
  }
  Status estimate(const ProblemShape& shape, const ParameterList& parameters, const FitSpec& spec,
                  MemoryEstimate& memory) const noexcept override {
    return steps_.estimate(shape, parameters, spec, memory);
  }
  Status open(const DatasetView& dataset, const ParameterList& parameters,
              Session** session) noexcept override {
    return guarded([&] {
      const DatasetView view = readable(dataset);
      Session* of_rows = nullptr;
      const Status status = steps_.open(view, parameters, &of_rows);
      if (!status.ok()) throw StatusError(status);
      *session = new FakeDeviceSession(of_rows, view);
    });
  }
  void* query(const char* interface_name) noexcept override {
    if (std::string_view(interface_name) != kDeviceMemory || device_lies.hides_memory) {
      return nullptr;
    }
    return static_cast<DeviceMemory*>(&memory_);
  }
  void release() noexcept override { delete this; }

 private:
  mutable StepBackend<FakeStep, kInfo> steps_;
  FakeDeviceMemory memory_;
};

/// Device 0 is the fake one.
inline std::shared_ptr<const LoadedBackend> make_device_backend() {
  return std::make_shared<const LoadedBackend>("fake", make_plugin_header("fake-device", "1"),
                                               new FakeDeviceBackend, std::vector<DeviceInfo>(1),
                                               "");
}

/// A copy of float32 values in the memory of the fake device.
inline DeviceMatrix copy_to_device(const std::vector<float>& values, std::int64_t rows,
                                   std::int64_t columns, std::int64_t stride = 0) {
  const std::shared_ptr<float> storage(new float[values.size()], std::default_delete<float[]>());
  std::copy(values.begin(), values.end(), storage.get());
  DeviceMatrix matrix = DeviceMatrix::view(flip_address(static_cast<const float*>(storage.get())),
                                           rows, columns, stride);
  matrix.storage = storage;
  return matrix;
}

}  // namespace lloyd::fake
