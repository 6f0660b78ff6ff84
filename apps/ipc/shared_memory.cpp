#include "ipc/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::apps {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

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
  return {data, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); }};
}

}  // namespace lloyd::apps
