#include "descriptor.hpp"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include <fmt/format.h>

namespace lloyd::apps {

int copy_to_high_number(int descriptor) {
  constexpr int kHighNumber = 200;
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kHighNumber);
  return copy >= 0 ? copy : ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

std::int64_t descriptor_limit() {
  constexpr auto kUnlimited = std::numeric_limits<std::int64_t>::max();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kUnlimited;
  return static_cast<std::int64_t>(
      std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(kUnlimited)));
}

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == EAGAIN || error == ENOMEM ||
         error == ENOSPC;
}

std::string descriptor_error(int error) {
  std::string text = ::strerror(error);
  if (error != EMFILE) return text;
  return fmt::format("{}: this process may have {}, see 'ulimit -n'", text, descriptor_limit());
}

}  // namespace lloyd::apps
