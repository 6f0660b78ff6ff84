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
void* take_memory(std::size_t bytes);

/// What was taken. Of at least two large pages it stays with the process, kMostFreed bytes at the
/// most, until as much of another size is taken, or release_memory() is called.
void give_memory(void* memory, std::size_t bytes) noexcept;

/// Frees what stays with the process and is not in use.
void release_memory() noexcept;

/// Bytes that stay with the process.
std::size_t freed_memory() noexcept;

inline constexpr std::size_t kMostFreed = std::size_t{1} << 28;

/// What take_memory() takes for so many bytes.
constexpr std::int64_t large_bytes(std::int64_t bytes) {
  constexpr auto kPage = static_cast<std::int64_t>(kLargePage);
  return bytes >= 2 * kPage ? (bytes + kPage - 1) / kPage * kPage : bytes;
}

struct GiveMemory {
  std::size_t bytes = 0;
  void operator()(void* memory) const noexcept { give_memory(memory, bytes); }
};
template <class T>
using LargeArray = std::unique_ptr<T[], GiveMemory>;

/// `count` values, which are anything. Throws std::bad_alloc.
template <class T>
LargeArray<T> large_array(std::size_t count) {
  static_assert(alignof(T) <= 64);
  const std::size_t bytes = count * sizeof(T);
  return LargeArray<T>(static_cast<T*>(take_memory(bytes)), {bytes});
}

}  // namespace lloyd_openmp
