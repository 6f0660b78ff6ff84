// Memory of a device and samples in it, for the cases of backends that read device memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/abi/device_memory.hpp>

#include "conformance/interface/pass_trial.hpp"

namespace lloyd::conformance {

/// The device of the cases.
inline constexpr std::int32_t kDevice = 0;

/// The backend's DeviceMemory; skips the case if it has none.
inline DeviceMemory& memory_of(const Context& context) {
  if ((context.info().capabilities & kCapabilityDeviceMemory) == 0) {
    throw CaseSkipped{"the backend does not read samples in device memory"};
  }
  auto* const memory = static_cast<DeviceMemory*>(context.backend().query(kDeviceMemory));
  expect(memory != nullptr, "the backend declares device memory, but query() gives no {}",
         kDeviceMemory);
  return *memory;
}

/// Device memory that `memory` frees.
inline std::shared_ptr<void> allocate(DeviceMemory& memory, std::int64_t bytes) {
  void* address = nullptr;
  expect_ok("allocate()", memory.allocate(kDevice, bytes, &address));
  return {address, [&memory](void* allocated) { memory.deallocate(kDevice, allocated); }};
}

inline std::shared_ptr<const LoadedBackend> unowned(const LoadedBackend& backend) {
  return {std::shared_ptr<const LoadedBackend>(), &backend};
}

/// A copy of a matrix in device memory, with the same gaps and alignment. The allocation ends with
/// the last value.
inline DeviceMatrix copy_to_device(DeviceMemory& memory, const Matrix& matrix,
                                   std::int64_t offset) {
  const std::int64_t values = (matrix.rows - 1) * matrix.stride + matrix.columns;
  const std::int64_t size = size_of(matrix.dtype);
  const std::shared_ptr<void> storage = allocate(memory, (offset + values) * size);
  char* const first = static_cast<char*>(storage.get()) + offset * size;
  expect_ok("upload()", memory.upload(kDevice, nullptr, matrix.data, values * size, first));
  return {storage,       first,        matrix.rows, matrix.columns,
          matrix.stride, matrix.dtype, kDevice,     nullptr};
}

/// The same samples in host memory and in device memory.
struct Twins {
  Twins(const Context& context, const Samples& samples, Layout layout = {})
      : host(make_dataset(samples, context.dtype(), layout)),
        device("conformance", copy_to_device(memory_of(context), host.matrix(), layout.offset),
               unowned(context.loaded())) {}

  Dataset host;
  Dataset device;
};

/// Copies `count` values to host memory.
template <class T>
std::vector<T> downloaded(DeviceMemory& memory, const std::shared_ptr<void>& from,
                          std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  expect_ok("download()",
            memory.download(kDevice, nullptr, from.get(),
                            count * static_cast<std::int64_t>(sizeof(T)), values.data()));
  return values;
}

}  // namespace lloyd::conformance
