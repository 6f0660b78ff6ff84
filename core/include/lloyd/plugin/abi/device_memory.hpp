// DeviceMemory and DeviceResults: optional interfaces of backends with kCapabilityDeviceMemory. The
// host obtains the first with Backend::query(), the second with Session::query(). With them a host
// needs no device runtime of its own.
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/backend.hpp>

namespace lloyd {

/// Name of DeviceMemory. Later minor versions may append fields to the structs, which an earlier
/// plugin ignores; any other change gets a new name.
inline constexpr char kDeviceMemory[] = "lloyd.device_memory/1";

/// Result of DeviceMemory::describe(). The arrays are in host memory.
struct RowsDescription {
  std::uint64_t struct_size = sizeof(RowsDescription);  ///< sizeof on the allocating side
  /// d, out; bit-identical to StatisticsMerge (row_statistics.hpp).
  FeatureStatistics* statistics = nullptr;
  std::uint64_t hash = 0;  ///< out: sum of value_hash() over all values
  /// Out: row of the first value in row-major order that is NaN or infinite. Statistics and hash
  /// are then undefined. -1: all values are finite.
  std::int64_t invalid_row = -1;
  std::int64_t invalid_feature = -1;  ///< out: its feature
};
static_assert(sizeof(RowsDescription) == 40);

/// Manages memory of the devices that the backend lists and describes samples stored there. Part of
/// a backend: shares its lifetime, and is likewise thread-safe. Calls return when their work is
/// done, and restore the current device. `device` is the DeviceInfo::index of a device; `stream` is
/// a stream on it (CUDA: a cudaStream_t; null: the default stream); a call first waits for the work
/// already queued on `stream`.
class DeviceMemory {
 public:
  /// Allocates memory that is aligned to 256 bytes; its content is undefined. Returns
  /// `out_of_memory` if there is too little.
  virtual Status allocate(std::int32_t device, std::int64_t bytes, void** memory) noexcept = 0;
  /// Frees memory of allocate(). No effect if it is null.
  virtual Status deallocate(std::int32_t device, void* memory) noexcept = 0;
  /// Copies from host memory to device memory.
  virtual Status upload(std::int32_t device, void* stream, const void* from, std::int64_t bytes,
                        void* to) noexcept = 0;
  /// Copies from device memory to host memory.
  virtual Status download(std::int32_t device, void* stream, const void* from, std::int64_t bytes,
                          void* to) noexcept = 0;
  /// Computes the statistics of all samples of a view, whose `statistics` are null. Copies none of
  /// the samples to host memory. Returns `invalid_argument` if `rows.data` is not in the memory of
  /// `rows.device`.
  virtual Status describe(const DatasetView& rows, RowsDescription& description) noexcept = 0;
  /// Copies the samples with the given row numbers to host memory: `count` x d values of
  /// `rows.dtype`, in the order of `row_numbers`. Returns `invalid_argument` for a row out of
  /// range, or if `rows.data` is not in the memory of `rows.device`.
  virtual Status copy_rows(const DatasetView& rows, const std::int64_t* row_numbers,
                           std::int64_t count, void* values) noexcept = 0;

 protected:
  ~DeviceMemory() = default;
};

/// Name of DeviceResults. The rule of kDeviceMemory applies.
inline constexpr char kDeviceResults[] = "lloyd.device_results/1";

/// Arrays that receive results, in memory of the session's device. Null: not wanted.
struct DeviceArrays {
  std::uint64_t struct_size = sizeof(DeviceArrays);  ///< sizeof on the allocating side
  double* centroids = nullptr;                       ///< k x d, row-major
  std::int32_t* labels = nullptr;                    ///< n
  std::int64_t* counts = nullptr;                    ///< k
  /// The caller's stream: the arrays are written after the work already queued on it, and work that
  /// is enqueued on it after the call sees the results.
  void* stream = nullptr;
};
static_assert(sizeof(DeviceArrays) == 40);

/// Part of a session: shares its lifetime, and likewise serves one thread at a time.
class DeviceResults {
 public:
  /// Copies results of the session's last fit() or label() within device memory; for label(), the
  /// centroids are those of the request. May return before the copies are done. Returns
  /// `invalid_argument` if the session's last request was not fit() or label(), or failed (a
  /// seeding does not count as a request).
  virtual Status copy_results(const DeviceArrays& arrays) noexcept = 0;

 protected:
  ~DeviceResults() = default;
};

}  // namespace lloyd
