// RowPrefetcher: samples that kernels come to next, on their way from memory.
#pragma once

#include <cstdint>

#include <hwy/base.h>

namespace lloyd_openmp {

/// Asks for lines of samples, to the second cache: all lines of one sample, then those of the next,
/// which come faster than one line of each by turns.
template <class T>
class RowPrefetcher {
 public:
  /// `samples`: enough for all calls of prefetch_line(), of which each sample takes one for every
  /// begun 64 bytes of its first `features`.
  RowPrefetcher(const T* const* samples, std::int64_t features)
      : samples_(samples), features_(features) {}

  HWY_INLINE void prefetch_line() {
    constexpr int kRead = 0, kToL2 = 2;
    __builtin_prefetch(*samples_ + offset_, kRead, kToL2);
    offset_ += static_cast<std::int64_t>(64 / sizeof(T));
    if (offset_ < features_) return;
    offset_ = 0;
    ++samples_;
  }

 private:
  const T* const* samples_;
  std::int64_t features_;
  std::int64_t offset_ = 0;
};

}  // namespace lloyd_openmp
