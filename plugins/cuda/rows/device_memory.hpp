// CudaDeviceMemory: lloyd::DeviceMemory for CUDA devices.
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/device_memory.hpp>

namespace lloyd_cuda {

/// Has no state.
class CudaDeviceMemory final : public lloyd::DeviceMemory {
 public:
  lloyd::Status allocate(std::int32_t device, std::int64_t bytes, void** memory) noexcept override;
  lloyd::Status deallocate(std::int32_t device, void* memory) noexcept override;
  lloyd::Status upload(std::int32_t device, void* stream, const void* from, std::int64_t bytes,
                       void* to) noexcept override;
  lloyd::Status download(std::int32_t device, void* stream, const void* from, std::int64_t bytes,
                         void* to) noexcept override;
  lloyd::Status describe(const lloyd::DatasetView& rows,
                         lloyd::RowsDescription& description) noexcept override;
  lloyd::Status copy_rows(const lloyd::DatasetView& rows, const std::int64_t* row_numbers,
                          std::int64_t count, void* values) noexcept override;
};

}  // namespace lloyd_cuda
