// FarthestPass: finds the samples farthest from their own centroids, for relocation.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/requests.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/passes/samples.hpp"

namespace lloyd_cuda {

/// Finds the `wanted` farthest samples. The rows are processed in pieces; for each, the device
/// returns the samples that are farther than the last of the `wanted` farthest so far.
class FarthestPass {
 public:
  /// Rows per piece.
  static constexpr std::int64_t kPieceRows = std::int64_t{1} << 18;
  /// Device memory of this object, bytes.
  static constexpr std::int64_t kDeviceBytes = kPieceRows * sizeof(lloyd::FarSample);

  /// Allocates kDeviceBytes. Throws StatusError.
  explicit FarthestPass(std::int64_t wanted) : wanted_(wanted) {}

  /// Adds the samples of `rows`. Calls must be in ascending order of rows, because the first of
  /// equally far samples is kept. `centroids` (k x d) and `labels` (n) are in device memory. Waits
  /// for the stream.
  template <class T>
  void add(lloyd::RowRange rows, const Samples<T>& samples, const double* centroids,
           const std::int32_t* labels, cudaStream_t stream);

  /// At most `wanted` samples at a distance > 0, by descending distance, then ascending row.
  std::vector<lloyd::FarSample> sorted();

 private:
  void keep_farthest();

  std::int64_t wanted_;
  double threshold_ = 0;  // only larger squared distances are candidates
  std::vector<lloyd::FarSample> farthest_;
  DeviceBuffer<lloyd::FarSample> candidates_{kPieceRows};
  DeviceBuffer<unsigned int> count_{1};
};

}  // namespace lloyd_cuda
