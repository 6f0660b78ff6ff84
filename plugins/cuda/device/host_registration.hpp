// HostRegistration: page-locks memory of the caller, so that copies to a device need no staging.
#pragma once

#include <cstddef>

namespace lloyd_cuda {

/// Page-locks a range of host memory for its lifetime, if the pages allow it and the range has at
/// most 1/16 of the memory that this process may use. Locked pages of a mapped file cannot be
/// evicted, and the ranks of a host do not know of each other: eight of them lock at most half of
/// the memory.
class HostRegistration {
 public:
  HostRegistration(const void* data, std::size_t bytes);
  ~HostRegistration();
  HostRegistration(const HostRegistration&) = delete;
  HostRegistration& operator=(const HostRegistration&) = delete;

  /// True if copies from the range are asynchronous and need no staging.
  bool is_locked() const { return registered_ != nullptr; }

 private:
  const void* registered_ = nullptr;  // null: nothing is registered
};

}  // namespace lloyd_cuda
