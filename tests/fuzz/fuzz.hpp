// Shared by the fuzz targets: inputs as files, and properties of every refusal.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace lloyd::fuzz {

/// Aborts the program; libFuzzer then reports the input.
[[noreturn]] inline void fail(std::string_view what) {
  std::fputs(fmt::format("\nproperty violated: {}\n", what).c_str(), stderr);
  std::abort();
}

inline void require(bool holds, std::string_view what) {
  if (!holds) fail(what);
}

/// Requires one nonempty line that is safe to print on a terminal.
inline void check_line(std::string_view line) {
  require(!line.empty(), "a message is empty");
  require(printable(line) == line, fmt::format("a message is not printable: {:?}", line));
}

/// Requires lines that each end with a line feed and have no other control characters. Lines may be
/// empty.
inline void check_lines(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    require(end != std::string_view::npos, "a text does not end with its line");
    for (const char c : text.substr(begin, end - begin)) {
      const auto code = static_cast<unsigned char>(c);
      require(code >= 0x20 && code != 0x7f, fmt::format("a line is not printable: {:?}", text));
    }
    begin = end + 1;
  }
}

/// Runs `read`. It may refuse the input, but only with an InputError whose message is one printable
/// line.
template <class Read>
void expect_refusal_or(Read&& read) {
  try {
    read();
  } catch (const InputError& error) {
    check_line(error.what());
  } catch (const std::exception& error) {
    fail(fmt::format("an exception that is no InputError: {}", error.what()));
  }
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A file in memory that holds one input at a time.
class InputFile {
 public:
  InputFile() : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    require(descriptor_ >= 0, "memfd_create failed");
  }
  ~InputFile() { ::close(descriptor_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Replaces the contents by `bytes` and returns the path. The previous contents must not be
  /// mapped any more.
  std::filesystem::path hold(std::string_view bytes) const {
    require(::ftruncate(descriptor_, 0) == 0 && ::pwrite(descriptor_, bytes.data(), bytes.size(),
                                                         0) == static_cast<ssize_t>(bytes.size()),
            "the input cannot be written");
    return fmt::format("/proc/self/fd/{}", descriptor_);
  }

 private:
  int descriptor_;
};

}  // namespace lloyd::fuzz
