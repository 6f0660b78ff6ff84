#include "common/large_pages.hpp"

#include <sys/mman.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace lloyd_openmp {
namespace {

bool is_large(std::size_t bytes) {
  return bytes >= 2 * kHugePageBytes;
}

std::size_t allocation_size(std::size_t bytes) {
  const std::size_t unit = is_large(bytes) ? kHugePageBytes : 64;
  return (bytes + unit - 1) / unit * unit;
}

// Released blocks for the next session.
class BlockCache {
 public:
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    for (Block& block : blocks_) {
      if (block.memory != nullptr && block.bytes == bytes) return remove(block);
    }
    release_all();
    return nullptr;
  }

  bool keep(void* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (held_ + bytes > kMaxCachedBytes) return false;
    for (Block& block : blocks_) {
      if (block.memory != nullptr) continue;
      block = {memory, bytes};
      held_ += bytes;
      return true;
    }
    return false;
  }

  void release() {
    const std::lock_guard lock(mutex_);
    release_all();
  }

  std::size_t held() {
    const std::lock_guard lock(mutex_);
    return held_;
  }

 private:
  struct Block {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };

  void* remove(Block& block) {
    held_ -= block.bytes;
    return std::exchange(block.memory, nullptr);
  }

  void release_all() {
    for (Block& block : blocks_) {
      if (block.memory != nullptr) std::free(remove(block));
    }
  }

  std::mutex mutex_;
  std::array<Block, 8> blocks_;
  std::size_t held_ = 0;
};

// Never destroyed: sessions may end after static objects do.
BlockCache& block_cache() {
  static auto* const cache = new BlockCache;
  return *cache;
}

}  // namespace

void* acquire_pages(std::size_t bytes) {
  const std::size_t whole = allocation_size(bytes);
  if (is_large(bytes)) {
    if (void* const memory = block_cache().take(whole)) return memory;
  }
  void* const memory = std::aligned_alloc(is_large(bytes) ? kHugePageBytes : 64, whole);
  if (memory == nullptr) throw std::bad_alloc();
  if (is_large(bytes)) ::madvise(memory, whole, MADV_HUGEPAGE);  // only a hint
  return memory;
}

void release_pages(void* memory, std::size_t bytes) noexcept {
  if (is_large(bytes) && block_cache().keep(memory, allocation_size(bytes))) return;
  std::free(memory);
}

void trim_pages() noexcept {
  block_cache().release();
}

std::size_t cached_page_bytes() noexcept {
  return block_cache().held();
}

}  // namespace lloyd_openmp
