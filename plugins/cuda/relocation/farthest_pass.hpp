// FarthestPass: finds the samples farthest from their own centroids, for relocation.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/requests.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/passes/samples.hpp"

namespace lloyd_cuda {

/// Finds the `wanted` farthest samples on the device, in pieces of the rows. Candidates are the
/// samples beyond a threshold, the distance of the last of the `wanted` so far. Later pieces have
/// few candidates beyond the threshold, so each piece is four times as large as the last; one with
/// too many candidates is repeated with kPieceRows rows.
class FarthestPass {
 public:
  /// Candidates that are held besides the farthest so far; a piece of so many rows always fits.
  static constexpr std::int64_t kPieceRows = std::int64_t{1} << 18;
  /// Device memory of this object for `wanted` samples, bytes: candidates, and as much to sort
  /// them.
  static constexpr double device_bytes(double wanted) {
    return 2 * (wanted + kPieceRows) * sizeof(lloyd::FarSample) + (1 << 16);
  }

  /// Allocates device_bytes(wanted). Throws StatusError.
  explicit FarthestPass(std::int64_t wanted);

  /// Adds the samples of `rows`. Calls must be in ascending order of rows, because the first of
  /// equally far samples is kept. `centroids` (k x d) and `labels` (n) are in device memory. Waits
  /// for the stream.
  template <class T>
  void add(lloyd::RowRange rows, const Samples<T>& samples, const double* centroids,
           const std::int32_t* labels, cudaStream_t stream);

  /// At most `wanted` samples at a distance > 0, by descending distance, then ascending row. Waits
  /// for the stream.
  std::vector<lloyd::FarSample> sorted(cudaStream_t stream) const;

 private:
  void keep_farthest(std::int64_t added, cudaStream_t stream);

  std::int64_t wanted_;
  std::int64_t kept_ = 0;  // sorted, at the beginning of samples_
  double threshold_ = 0;   // only larger squared distances are candidates
  DeviceBuffer<lloyd::FarSample> samples_;
  DeviceBuffer<char> sorting_memory_;
  DeviceBuffer<unsigned long long> count_{1};
};

}  // namespace lloyd_cuda
