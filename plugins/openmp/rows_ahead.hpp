// RowsAhead: samples that kernels come to next, on their way from memory.
#pragma once

#include <cstdint>

#include <hwy/base.h>

namespace lloyd_openmp {

/// Asks for lines of samples, to the second cache: all lines of one sample, then those of the next,
/// which come faster than one line of each by turns.
template <class T>
class RowsAhead {
 public:
  /// `samples`: enough for all calls of ask_for_line(), of which each sample takes one for every
  /// begun 64 bytes of its first `features`.
  RowsAhead(const T* const* samples, std::int64_t features)
      : samples_(samples), features_(features) {}

  HWY_INLINE void ask_for_line() {
    constexpr int kRead = 0, kSecondCache = 2;
    __builtin_prefetch(*samples_ + at_, kRead, kSecondCache);
    at_ += static_cast<std::int64_t>(64 / sizeof(T));
    if (at_ < features_) return;
    at_ = 0;
    ++samples_;
  }

 private:
  const T* const* samples_;
  std::int64_t features_;
  std::int64_t at_ = 0;
};

}  // namespace lloyd_openmp
