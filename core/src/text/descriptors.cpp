#include <lloyd/internal/descriptors.hpp>

#include <string.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include <fmt/format.h>

namespace lloyd {

std::int64_t descriptor_limit() {
  constexpr auto kUnlimited = std::numeric_limits<std::int64_t>::max();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kUnlimited;
  return static_cast<std::int64_t>(
      std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(kUnlimited)));
}

std::string descriptor_error(int error) {
  std::string text = ::strerror(error);
  if (error != EMFILE) return text;
  return fmt::format("{}: this process may have {}, see 'ulimit -n'", text, descriptor_limit());
}

}  // namespace lloyd
