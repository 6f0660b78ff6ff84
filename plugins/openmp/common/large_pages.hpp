// Uninitialised arrays; large ones use huge pages, which the next session can reuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace lloyd_openmp {

inline constexpr std::size_t kHugePageBytes = std::size_t{1} << 21;

/// Returns uninitialised memory, 64-byte aligned. A block of at least two huge pages is taken from
/// the cache if that has one of the same size, because page faults make new memory slow (1 to 10
/// GB/s). Throws std::bad_alloc. Thread-safe, as are all functions here.
void* acquire_pages(std::size_t bytes);

/// Releases memory of acquire_pages(bytes). Blocks of at least two huge pages stay in the cache, up
/// to kMaxCachedBytes in total, until a large block of another size is acquired or trim_pages() is
/// called.
void release_pages(void* memory, std::size_t bytes) noexcept;

/// Frees all cached blocks.
void trim_pages() noexcept;

/// Total size of the cached blocks.
std::size_t cached_page_bytes() noexcept;

inline constexpr std::size_t kMaxCachedBytes = std::size_t{1} << 28;

/// Number of bytes that acquire_pages(bytes) allocates.
constexpr std::int64_t page_rounded_bytes(std::int64_t bytes) {
  constexpr auto kPage = static_cast<std::int64_t>(kHugePageBytes);
  return bytes >= 2 * kPage ? (bytes + kPage - 1) / kPage * kPage : bytes;
}

struct ReleasePages {
  std::size_t bytes = 0;
  void operator()(void* memory) const noexcept { release_pages(memory, bytes); }
};
template <class T>
using LargeArray = std::unique_ptr<T[], ReleasePages>;

/// `count` uninitialised values. Throws std::bad_alloc.
template <class T>
LargeArray<T> large_array(std::size_t count) {
  static_assert(alignof(T) <= 64);
  const std::size_t bytes = count * sizeof(T);
  return LargeArray<T>(static_cast<T*>(acquire_pages(bytes)), {bytes});
}

}  // namespace lloyd_openmp
