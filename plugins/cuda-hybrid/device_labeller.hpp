// DeviceLabeller: labels chunks of resident samples on a CUDA device.
#pragma once

#include <cstdint>
#include <memory>

#include <lloyd/plugin/dataset_view.hpp>
#include <lloyd/plugin/parameters.hpp>

#include "cuda-hybrid/centroid_groups.hpp"

namespace lloyd_cuda_hybrid {

/// The labeller of HybridStep. Samples lie in device memory, feature by feature. Each slot has a
/// stream of its own, so that the labels of one chunk are copied while the next ones are computed,
/// and small chunks share the device. All methods restore the caller's current device; they throw
/// StatusError, and serve one thread, but for labels().
template <class T>
class DeviceLabeller {
 public:
  /// Makes the samples resident on the device that the parameter `device` names. What `dataset`
  /// points to is not needed afterwards.
  DeviceLabeller(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters,
                 std::int64_t chunk_rows);
  ~DeviceLabeller();

  /// Begins a pass: copies centroids (group_features(clusters, d), in host memory) to the device;
  /// distances to them are computed in their type. Nothing is in flight. With `profile` the pass
  /// uses one stream, so that copies overlap with nothing and can be timed.
  template <class Real>
  void begin_pass(const GroupFeature<Real>* groups, std::int64_t clusters, bool profile);

  /// Enqueues the labelling of a chunk and the copy of its labels. The slot is free.
  void start(int slot, lloyd::RowRange rows);
  /// Whether the labels of the slot's chunk have arrived; does not wait.
  bool arrived(int slot);
  /// They, in pinned host memory. May be called from any thread.
  const std::int32_t* labels(int slot) const;
  /// Has the work in flight given up, and waits for it.
  void abandon() noexcept;

  /// Milliseconds of this pass's copies, centroids and labels; 0 where it is not profiled.
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
  std::unique_ptr<Parts> parts_;  // all that lives on the device
};

}  // namespace lloyd_cuda_hybrid
