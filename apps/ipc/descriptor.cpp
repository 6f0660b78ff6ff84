#include "ipc/descriptor.hpp"

#include <fcntl.h>

#include <cerrno>

namespace lloyd::apps {

int copy_to_high_number(int descriptor) {
  constexpr int kHighNumber = 200;
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kHighNumber);
  return copy >= 0 ? copy : ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == EAGAIN || error == ENOMEM ||
         error == ENOSPC;
}

}  // namespace lloyd::apps
