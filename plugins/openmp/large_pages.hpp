// Arrays that are not touched before they are used, in large pages where they are large, which the
// next session takes over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace lloyd_openmp {

inline constexpr std::size_t kLargePage = std::size_t{1} << 21;

/// At a 64-byte boundary. Of at least two large pages, memory of the same size that was given back
/// before, if there is any: what is new to the process comes at 1 to 10 GB/s. Throws
/// std::bad_alloc.
void* acquire_pages(std::size_t bytes);

/// What was taken. Of at least two large pages it stays with the process, kMaxCachedBytes bytes at
/// the most, until as much of another size is taken, or trim_pages() is called.
void release_pages(void* memory, std::size_t bytes) noexcept;

/// Frees what stays with the process and is not in use.
void trim_pages() noexcept;

/// Bytes that stay with the process.
std::size_t cached_page_bytes() noexcept;

inline constexpr std::size_t kMaxCachedBytes = std::size_t{1} << 28;

/// What acquire_pages() takes for so many bytes.
constexpr std::int64_t page_rounded_bytes(std::int64_t bytes) {
  constexpr auto kPage = static_cast<std::int64_t>(kLargePage);
  return bytes >= 2 * kPage ? (bytes + kPage - 1) / kPage * kPage : bytes;
}

struct ReleasePages {
  std::size_t bytes = 0;
  void operator()(void* memory) const noexcept { release_pages(memory, bytes); }
};
template <class T>
using LargeArray = std::unique_ptr<T[], ReleasePages>;

/// `count` values, which are anything. Throws std::bad_alloc.
template <class T>
LargeArray<T> large_array(std::size_t count) {
  static_assert(alignof(T) <= 64);
  const std::size_t bytes = count * sizeof(T);
  return LargeArray<T>(static_cast<T*>(acquire_pages(bytes)), {bytes});
}

}  // namespace lloyd_openmp
