// DeviceLabeller: labels chunks of resident samples on a CUDA device.
#pragma once

#include <cstdint>
#include <memory>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/parameters.hpp>

#include "cuda-hybrid/centroid_groups.hpp"

namespace lloyd_cuda_hybrid {

/// The labeller of HybridStep. Samples are in device memory, feature-major. Each slot has its own
/// stream, so that the labels of one chunk are copied while the next are computed, and small chunks
/// share the device. All methods restore the caller's current device and throw StatusError; all but
/// labels() serve one thread.
template <class T>
class DeviceLabeller {
 public:
  /// Copies the samples to the device of the parameter `device`. The data set is not needed
  /// afterwards.
  DeviceLabeller(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters,
                 std::int64_t chunk_rows);
  ~DeviceLabeller();

  /// Begins a pass: copies centroids (group_features(clusters, d) entries in host memory) to the
  /// device; distances are computed in Real. No chunk may be in flight. With `profile` the pass
  /// uses one stream, so that copies do not overlap with kernels and can be timed.
  template <class Real>
  void begin_pass(const GroupFeature<Real>* groups, std::int64_t clusters, bool profile);

  /// Enqueues labelling a chunk and copying its labels. The slot must be free.
  void start(int slot, lloyd::RowRange rows);
  /// True if the labels of the slot's chunk have arrived; does not wait.
  bool arrived(int slot);
  /// The labels of the slot, in pinned host memory. Thread-safe.
  const std::int32_t* labels(int slot) const;
  /// Cancels the work in flight and waits for it.
  void abandon() noexcept;

  /// Time of this pass's copies (centroids and labels) in milliseconds; 0 unless it is profiled.
  double transfer_ms() const;

 private:
  struct Parts;
  template <class Real>
  void enqueue(int slot, lloyd::RowRange rows);

  int device_;
  int block_size_;
  std::int64_t chunk_rows_;
  std::int64_t features_;
  std::int64_t clusters_ = 0;
  bool in_float64_ = true;
  bool profiled_ = false;
  double transfer_ms_ = 0;
  std::unique_ptr<Parts> parts_;  // device resources
};

}  // namespace lloyd_cuda_hybrid
