// PageBuffer: an array that grows without a second copy of itself.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>

namespace lloyd {

/// Values in pages of their own, which move to another address by their page tables alone: while a
/// vector grows, it takes up to three times its size. What is added is zero.
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
  /// Keeps what the smaller size has. Throws std::bad_alloc.
  void resize(std::size_t size) {
    if (size > capacity_) grow(size);
    size_ = size;
  }
  /// Without giving back memory: what is added next is not zero.
  void clear() { size_ = 0; }

 private:
  void grow(std::size_t size) {
    // Pages that are not touched take no memory.
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
