#include "data/io/temporary_names.hpp"

#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <exception>
#include <fstream>
#include <functional>
#include <sstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace lloyd {
namespace {

std::uint64_t random_number() {
  static std::atomic<std::uint64_t> count{0};
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) == sizeof(number)) return number;
  return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) +
         count++;
}

// Identifies the processes among which process numbers are unique; 0 if it is unknown. The host
// name is part of it because copies of a virtual machine's memory have the same boot.
std::uint64_t process_space() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code error;
  const std::string name_space = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  if (boot.empty() || name_space.empty()) return 0;
  return std::hash<std::string>()(boot + name_space + host.data());
}

// When this process began, in ticks since the machine was started; 0 if it is unknown.
std::uint64_t start_of_this_process() {
  constexpr int kStartField = 22;  // of /proc/PID/stat, from 1
  std::string text;
  std::ifstream file("/proc/self/stat");
  std::getline(file, text);
  // The second field, in parentheses, may itself contain blanks and parentheses.
  std::istringstream rest(text.substr(text.rfind(')') + 1));
  std::string field;
  for (int number = 3; number <= kStartField; ++number) rest >> field;
  std::uint64_t start = 0;
  std::istringstream(field) >> start;
  return start;
}

// The parts of a name, in the text of the program that wrote it.
struct NameParts {
  int process = 0;
  std::uint64_t start = 0;
  std::uint64_t space = 0;
};

bool read_parts(std::string_view name, NameParts& parts) {
  constexpr std::string_view kPrefix = ".lloyd-";
  constexpr std::string_view kSuffix = ".tmp";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  const char* next = name.data() + kPrefix.size();
  const char* const end = name.data() + name.size() - kSuffix.size();
  const auto read = [&](auto& value, int base) {
    const auto [at, error] = std::from_chars(next, end, value, base);
    next = at;
    return error == std::errc() && (next == end || *next++ == '-');
  };
  std::uint64_t random = 0;
  return read(parts.process, 10) && read(parts.start, 10) && read(parts.space, 16) &&
         read(random, 16) && next == end && parts.process > 0;
}

// The number may have been given to another process since. That is recognized only if this process
// has it now; otherwise the file stays.
bool has_ended(const NameParts& parts, const NameParts& mine) {
  if (parts.space != mine.space) return false;
  const bool starts_known = parts.start != 0 && mine.start != 0;
  if (parts.process == mine.process) return starts_known && parts.start != mine.start;
  return ::kill(parts.process, 0) != 0 && errno == ESRCH;
}

}  // namespace

std::string temporary_name() {
  return fmt::format(".lloyd-{}-{}-{:016x}-{:016x}.tmp", ::getpid(), start_of_this_process(),
                     process_space(), random_number());
}

void remove_leftovers(const std::filesystem::path& folder) noexcept {
  try {
    const NameParts mine{::getpid(), start_of_this_process(), process_space()};
    if (mine.space == 0 || mine.start == 0) return;
    std::error_code error;
    std::filesystem::directory_iterator entry(folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      NameParts parts;
      const std::filesystem::path file = entry->path();
      if (!read_parts(file.filename().string(), parts) || !has_ended(parts, mine)) continue;
      struct stat status = {};
      if (::lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
      if (status.st_uid == ::geteuid()) ::unlink(file.c_str());
    }
  } catch (const std::exception&) {
    // The files stay.
  }
}

}  // namespace lloyd
