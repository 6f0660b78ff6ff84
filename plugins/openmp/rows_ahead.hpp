// RowsAhead: samples that kernels come to next, on their way from memory.
#pragma once

#include <cstdint>

namespace lloyd_openmp {

/// Asks for lines of samples, each sample's in turn: so they come faster than lines of several
/// samples by turns, and to the second cache faster than to the first.
template <class T>
class RowsAhead {
 public:
  /// `samples`: as many of `features` as are asked for.
  RowsAhead(const T* const* samples, std::int64_t features)
      : samples_(samples), features_(features) {}

  void ask_for_line() {
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
