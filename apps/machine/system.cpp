#include "machine/system.hpp"

#include <sys/utsname.h>

#include <charconv>

#include <fmt/format.h>

namespace lloyd::machine {

std::string operating_system(const SystemFiles& files) {
  utsname name{};
  std::string result = uname(&name) == 0 ? fmt::format("{} {}", name.sysname, name.release) : "";
  const std::string release = files.text("/etc/os-release");
  for (const std::string_view line : lines_of(release)) {
    constexpr std::string_view key = "PRETTY_NAME=\"";
    if (line.starts_with(key) && line.ends_with('"')) {
      result += fmt::format(" ({})", line.substr(key.size(), line.size() - key.size() - 1));
    }
  }
  return result;
}

double load_average(const SystemFiles& files) {
  const std::string text = files.text("/proc/loadavg");  // "0.12 0.44 1.08 1/90 23331"
  double load = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), load);
  return error == std::errc() ? load : -1;
}

Build this_build() {
  Build build;
  build.version = LLOYD_VERSION;
#if defined(__clang__)
  build.compiler = "clang " __clang_version__;
#else
  build.compiler = "gcc " __VERSION__;
#endif
  build.type = LLOYD_BUILD_TYPE;
  build.flags = LLOYD_BUILD_FLAGS;
#if defined(__OPTIMIZE__)
  build.optimized = true;
#endif
  build.sanitized = build.flags.find("-fsanitize=") != std::string::npos;
  return build;
}

}  // namespace lloyd::machine
