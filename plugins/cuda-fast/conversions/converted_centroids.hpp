// ConvertedCentroids: the centroids of a pass, converted for the screens.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda-fast/common/error_bound.hpp"
#include "cuda-fast/common/screen_shape.hpp"
#include "cuda-fast/conversions/sample_fragments.hpp"
#include "cuda/device/buffer.hpp"

namespace lloyd_cuda_fast {

/// Centroids in FP16 for tensor cores (the image), and in float32 for the direct screen. Memory is
/// on the device.
class ConvertedCentroids {
 public:
  /// Allocates for k centroids of d features; no image if the shape is not feasible. Enqueues the
  /// constants of the image. Throws StatusError.
  void prepare(const ScreenShape& shape, std::int64_t clusters, std::int64_t features,
               cudaStream_t stream);

  /// Enqueues the conversion of k x d centroids. `largest`: norms of the samples that will be
  /// screened; it only affects how many scores are negative.
  void enqueue(const double* centroids, const DeviceUnits& units, const SampleNorms* largest,
               int multiprocessors, cudaStream_t stream) const;

  /// The image: part p is at p * part_bytes(). In it, the row of a centroid has step 0 (its bias in
  /// three halves, then three factors for the bias of the sample), then -2 e', where e are the
  /// coordinates in units of the screen; layout: CentroidTile.
  const uint4* image() const { return image_.data(); }
  /// k x d: -2 e in float32.
  const float* values() const { return values_.data(); }
  /// k: FarCentroid bits.
  const std::uint8_t* far() const { return far_.data(); }
  /// k: |e|^2 in float32.
  const float* biases() const { return biases_.data(); }
  /// The norms of the image, and of the float32 values.
  const CentroidNorms* image_norms() const { return &state_.data()->image; }
  const CentroidNorms* value_norms() const { return &state_.data()->values; }

  /// Internal to the kernels.
  struct State {
    CentroidNorms image;           ///< of the last conversion
    CentroidNorms values;          ///< of the last conversion
    CentroidNorms running_image;   ///< maxima of the blocks so far; zeros between conversions
    CentroidNorms running_values;  ///< likewise
    unsigned int arrived;          ///< blocks that have ended
  };

 private:
  ScreenShape shape_;
  std::int64_t clusters_ = 0;
  std::int64_t features_ = 0;
  lloyd_cuda::DeviceBuffer<uint4> image_;
  lloyd_cuda::DeviceBuffer<float> values_;
  lloyd_cuda::DeviceBuffer<float> biases_;
  lloyd_cuda::DeviceBuffer<std::uint8_t> far_;
  lloyd_cuda::DeviceBuffer<State> state_;
};

}  // namespace lloyd_cuda_fast
