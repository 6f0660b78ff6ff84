// DeviceRows: the samples of a data set in device memory, which a backend reads for the core.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/abi/device_memory.hpp>

namespace lloyd {

class DeviceRows {
 public:
  /// `name` is the name of the data set, for messages. Throws InputError for an invalid shape, a
  /// null pointer or an unknown device, and BackendError for a backend that is not available or
  /// does not read device memory.
  DeviceRows(std::string name, DeviceMatrix matrix, std::shared_ptr<const LoadedBackend> backend);

  const DeviceMatrix& matrix() const { return matrix_; }

  /// What one pass over all samples yields.
  struct Description {
    std::vector<FeatureStatistics> statistics;  ///< d entries
    std::uint64_t fingerprint = 0;              ///< of the shape, the type and the values
  };
  /// Throws InputError for NaN or infinity, with row and column of the first, and for values whose
  /// squared distances may overflow; BackendError for an error of the backend and for statistics
  /// that are impossible.
  Description describe() const;

  /// Copies samples to host memory, as float64: rows.size() x d values in this order. The row
  /// numbers must be valid. Throws BackendError.
  void copy(std::span<const std::int64_t> rows, double* values) const;

  /// The view without statistics.
  DatasetView view() const;

 private:
  void check_statistics(const std::vector<FeatureStatistics>& statistics) const;
  [[noreturn]] void fail_statistics(std::size_t feature, const std::string& fault) const;
  [[noreturn]] void throw_not_finite(std::int64_t row, std::int64_t feature) const;

  std::string name_;
  DeviceMatrix matrix_;
  std::shared_ptr<const LoadedBackend> backend_;
  DeviceMemory* memory_ = nullptr;  // of the backend
};

}  // namespace lloyd
