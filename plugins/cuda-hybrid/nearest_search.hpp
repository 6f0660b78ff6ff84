// NearestSearch: the state of a kernel thread while it processes centroids portion by portion.
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

/// Finds the nearest centroid of one sample from consecutive portions of the array of groups. A
/// portion may end inside of a group, whose partial distances are carried over. Features are added
/// in ascending order and only a smaller distance replaces the label, so ties go to the lowest
/// index. `Distance::add(sum, x, c)` is sum + (x - c)^2 in Real. (Separate from the kernel, so that
/// it is tested on the CPU, too.)
template <class Real, class Distance>
class NearestSearch {
 public:
  /// Processes the next `count` GroupFeatures. Feature j of the sample is x[j * step]; it has
  /// `features` features.
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

  /// The label, after all portions were processed.
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

  Real distances_[kGroup] = {};  // partial distances to the current group
  Real least_ = std::numeric_limits<Real>::infinity();
  std::int32_t nearest_ = 0;
  std::int64_t first_ = 0;    // first centroid of the current group
  std::int64_t feature_ = 0;  // next feature of the current group
};

}  // namespace lloyd_cuda_hybrid
