#include "machine/system/system.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

namespace lloyd::machine {

// In the file that find_commit.cmake writes.
extern const char* const kCommit;

namespace {

constexpr const char* kVariables[] = {
    "LLOYD_PLUGIN_PATH", "OMP_NUM_THREADS",      "OMP_THREAD_LIMIT", "OMP_DYNAMIC",
    "OMP_PROC_BIND",     "OMP_PLACES",           "OMP_WAIT_POLICY",  "OMP_SCHEDULE",
    "OMP_STACKSIZE",     "GOMP_CPU_AFFINITY",    "GOMP_SPINCOUNT",   "KMP_AFFINITY",
    "KMP_BLOCKTIME",     "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"};

// "fmt=9.1.0 HDF5=1.10.8"; what CMake could not tell has no version.
NamedTexts read_libraries(std::string_view text) {
  NamedTexts libraries;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view entry = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equals = entry.find('=');
    if (equals + 1 >= entry.size()) continue;
    libraries.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return libraries;
}

}  // namespace

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

std::int64_t process_threads(const SystemFiles& files) {
  const std::int64_t threads = number_of(field_of(files.text("/proc/self/status"), "Threads"));
  return threads > 0 ? threads : 0;
}

NamedTexts set_variables() {
  NamedTexts variables;
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);
    if (value != nullptr) variables.emplace_back(name, value);
  }
  return variables;
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
  build.libraries = read_libraries(LLOYD_BUILD_LIBRARIES);
  build.commit = kCommit;
#if defined(__OPTIMIZE__)
  build.optimized = true;
#endif
  build.sanitized = build.flags.find("-fsanitize=") != std::string::npos;
  return build;
}

}  // namespace lloyd::machine
