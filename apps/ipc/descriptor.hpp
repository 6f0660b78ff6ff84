// Descriptor: owns a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

#include <lloyd/internal/descriptors.hpp>

namespace lloyd::apps {

using lloyd::descriptor_error;
using lloyd::descriptor_limit;

/// Closes it when it goes. Negative: none.
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
  /// The caller closes it from now on.
  int release() { return std::exchange(descriptor_, -1); }
  explicit operator bool() const { return descriptor_ >= 0; }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_ = -1;
};

/// A copy that is closed on exec, with a number from 200 on, which no plugin finds by accident, or
/// the lowest free one where the limit of descriptors allows no such number. Negative, with errno
/// set, where none can be made.
int copy_to_high_number(int descriptor);
/// Whether an error number says that this machine, or a limit of this process, has no more
/// descriptors, processes, memory or space: nothing that the caller's input is to blame for.
bool is_shortage(int error);

}  // namespace lloyd::apps
