// Descriptor: owns a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

#include <lloyd/internal/descriptors.hpp>

namespace lloyd::apps {

using lloyd::descriptor_error;
using lloyd::descriptor_limit;

/// The destructor closes the descriptor. Negative: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
  }

  int get() const { return descriptor_; }
  /// Passes ownership to the caller.
  int release() { return std::exchange(descriptor_, -1); }
  explicit operator bool() const { return descriptor_ >= 0; }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_ = -1;
};

/// Duplicates a descriptor, close-on-exec, to a number >= 200, which a plugin is unlikely to hit by
/// accident; to the lowest free number if the descriptor limit is too small. Returns a negative
/// value, with errno set, on failure.
int copy_to_high_number(int descriptor);
/// True if the error number means that the machine or a limit of this process is out of
/// descriptors, processes, memory or disk space, so that the input is not to blame.
bool is_shortage(int error);

}  // namespace lloyd::apps
