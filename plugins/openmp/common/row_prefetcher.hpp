// RowPrefetcher: prefetches upcoming samples while a kernel runs.
#pragma once

#include <cstdint>

#include <hwy/base.h>

namespace lloyd_openmp {

/// Prefetches to L2, all cache lines of one sample and then those of the next: faster than
/// round-robin over several samples (docs/design/openmp/memory.md).
template <class T>
class RowPrefetcher {
 public:
  /// `samples`: pointers to the upcoming samples, enough for all calls of prefetch_line(). A sample
  /// takes one call per 64 bytes of its first `features` values.
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
