// NearestSearch: what a thread of the kernel keeps while centroids pass by in portions.
#pragma once

#include <cstdint>
#include <limits>

#include "cuda-hybrid/centroid_groups.hpp"

#ifdef __CUDACC__
#define LLOYD_CUDA_DEVICE __device__
#else
#define LLOYD_CUDA_DEVICE
#endif

namespace lloyd_cuda_hybrid {

/// The nearest centroid to one sample, found from portions of the array of groups that follow one
/// another: a portion may end within a group, whose partial distances are carried along. Features
/// are added in ascending order and only a smaller distance is taken, so that ties go to the lowest
/// index. `Distance::add(sum, x, c)` is sum + (x - c)^2 in Real. (It is apart from the kernel so
/// that it runs, and is tested, on the CPU too.)
template <class Real, class Distance>
class NearestSearch {
 public:
  /// Takes the next `count` GroupFeatures. Feature j of the sample is x[j * step], of `features`.
  template <class T>
  LLOYD_CUDA_DEVICE void take(const GroupFeature<Real>* portion, int count, const T* x,
                              std::int64_t step, std::int64_t features) {
    for (int at = 0; at < count;) {
      const std::int64_t left = features - feature_;
      const int part = count - at < left ? count - at : static_cast<int>(left);
      const T* from = x + feature_ * step;
      for (int j = 0; j < part; ++j, from += step) {
        const GroupFeature<Real> centroids = portion[at + j];
        const Real value = static_cast<Real>(*from);
        for (int u = 0; u < kGroup; ++u) {
          distances_[u] = Distance::add(distances_[u], value, centroids.values[u]);
        }
      }
      at += part;
      feature_ += part;
      if (feature_ == features) end_group();
    }
  }

  /// The label, once all portions were taken.
  LLOYD_CUDA_DEVICE std::int32_t nearest() const { return nearest_; }

 private:
  LLOYD_CUDA_DEVICE void end_group() {
    for (int u = 0; u < kGroup; ++u) {
      if (distances_[u] < least_) {
        least_ = distances_[u];
        nearest_ = static_cast<std::int32_t>(first_ + u);
      }
      distances_[u] = 0;
    }
    first_ += kGroup;
    feature_ = 0;
  }

  Real distances_[kGroup] = {};  // to the centroids of this group, over the features so far
  Real least_ = std::numeric_limits<Real>::infinity();
  std::int32_t nearest_ = 0;
  std::int64_t first_ = 0;    // centroid of this group
  std::int64_t feature_ = 0;  // the next one of this group
};

}  // namespace lloyd_cuda_hybrid
