// Arrays that are not touched before they are used, in large pages where they are large.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace lloyd_openmp {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
template <class T>
using LargeArray = std::unique_ptr<T[], FreeMemory>;

inline constexpr std::size_t kLargePage = std::size_t{1} << 21;

/// What large_array() takes for so many bytes.
constexpr std::int64_t large_bytes(std::int64_t bytes) {
  constexpr auto kPage = static_cast<std::int64_t>(kLargePage);
  return bytes >= 2 * kPage ? (bytes + kPage - 1) / kPage * kPage : bytes;
}

/// `count` values without a value. Where there are many, pages of the usual size would take several
/// milliseconds for each 100 MB to come. Throws std::bad_alloc.
template <class T>
LargeArray<T> large_array(std::size_t count) {
  static_assert(alignof(T) <= 64);
  const std::size_t bytes = count * sizeof(T);
  const bool large = bytes >= 2 * kLargePage;
  const std::size_t unit = large ? kLargePage : 64;
  const std::size_t whole = (bytes + unit - 1) / unit * unit;
  void* const memory = std::aligned_alloc(unit, whole);
  if (memory == nullptr) throw std::bad_alloc();
  if (large) ::madvise(memory, whole, MADV_HUGEPAGE);  // a wish
  return LargeArray<T>(static_cast<T*>(memory));
}

}  // namespace lloyd_openmp
