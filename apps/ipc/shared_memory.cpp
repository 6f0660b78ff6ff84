#include "ipc/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <mutex>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::apps {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

// A signal handler reads the table, so it has a fixed size and no locks. is_shared_memory() does
// not know mappings beyond the last entry.
struct SharedRange {
  std::atomic<const char*> begin{nullptr};  // written last, cleared first; null: free entry
  std::atomic<std::size_t> size{0};
};

std::array<SharedRange, 16> shared_ranges;
std::mutex shared_ranges_mutex;  // for writers

void add_range(const void* begin, std::size_t size) {
  const std::lock_guard lock(shared_ranges_mutex);
  for (SharedRange& range : shared_ranges) {
    if (range.begin.load() != nullptr) continue;
    range.size = size;
    range.begin = static_cast<const char*>(begin);
    return;
  }
}

void remove_range(const void* begin) {
  const std::lock_guard lock(shared_ranges_mutex);
  for (SharedRange& range : shared_ranges) {
    if (range.begin.load() == begin) range.begin = nullptr;
  }
}

}  // namespace

Descriptor make_shared_memory(const void* data, std::int64_t bytes) {
  Descriptor memory(::memfd_create("lloyd", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) throw Error(fmt::format("cannot make shared memory: {}", descriptor_error(errno)));
  const char* next = static_cast<const char*>(data);
  for (std::int64_t left = bytes; left > 0;) {
    constexpr std::int64_t kMax = std::int64_t{1} << 30;
    const ssize_t written =
        ::write(memory.get(), next, static_cast<std::size_t>(std::min(left, kMax)));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw Error(fmt::format("cannot write {} bytes of shared memory: {}", bytes,
                              descriptor_error(errno)));
    }
    next += written;
    left -= written;
  }
  if (::fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0) {
    throw Error(fmt::format("cannot seal shared memory: {}", descriptor_error(errno)));
  }
  return memory;
}

std::int64_t shared_memory_bytes(int descriptor) {
  const int seals = ::fcntl(descriptor, F_GET_SEALS);  // the kernel may add further seals
  struct stat status {};
  if (seals < 0 || (seals & kSeals) != kSeals || ::fstat(descriptor, &status) != 0) {
    throw Error("the received descriptor is not sealed shared memory");
  }
  return status.st_size;
}

std::shared_ptr<const void> map_shared(int descriptor, std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, descriptor, 0);
  if (data == MAP_FAILED) {
    throw Error(
        fmt::format("cannot map {} bytes of shared memory: {}", bytes, descriptor_error(errno)));
  }
  std::shared_ptr<const void> memory(data, [size](const void* mapped) {
    remove_range(mapped);
    ::munmap(const_cast<void*>(mapped), size);
  });
  add_range(data, size);
  return memory;
}

bool is_shared_memory(const void* address) noexcept {
  const char* const at = static_cast<const char*>(address);
  return std::any_of(shared_ranges.begin(), shared_ranges.end(), [at](const SharedRange& range) {
    const char* const begin = range.begin.load();
    return begin != nullptr && at >= begin && at < begin + range.size.load();
  });
}

}  // namespace lloyd::apps
