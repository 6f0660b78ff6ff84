// PageBuffer: an array that grows without being copied.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>

namespace lloyd {

/// Values in pages of their own, which grow by remapping (mremap) instead of copying; a growing
/// vector takes up to three times its size. New values are zero.
template <class T>
class PageBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PageBuffer() = default;
  ~PageBuffer() {
    if (data_ != nullptr) ::munmap(data_, capacity_ * sizeof(T));
  }
  PageBuffer(const PageBuffer&) = delete;
  PageBuffer& operator=(const PageBuffer&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// Changes the size and keeps the values. Throws std::bad_alloc.
  void resize(std::size_t size) {
    if (size > capacity_) grow(size);
    size_ = size;
  }
  /// Sets the size to 0 without freeing memory. Values added afterwards are not zero.
  void clear() { size_ = 0; }

 private:
  void grow(std::size_t size) {
    // Untouched pages take no physical memory.
    constexpr std::size_t kStep = (std::size_t{1} << 20) / sizeof(T);
    const std::size_t capacity = (size + size / 8) / kStep * kStep + kStep;
    const std::size_t bytes = capacity * sizeof(T);
    if (capacity < size || bytes / sizeof(T) != capacity) throw std::bad_alloc();
    void* const pages = data_ == nullptr
                            ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                            : ::mremap(data_, capacity_ * sizeof(T), bytes, MREMAP_MAYMOVE);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<T*>(pages);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace lloyd
