// SystemFiles: what the kernel says in /proc and /sys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lloyd::machine {

/// Reads texts of the kernel below a root, which is "/" but in tests.
class SystemFiles {
 public:
  explicit SystemFiles(std::filesystem::path root = "/") : root_(std::move(root)) {}

  /// The text of a file such as "/proc/cpuinfo", without trailing line feeds; empty where there is
  /// none or it cannot be read.
  std::string text(std::string_view file) const;
  /// Names in a folder that begin with `prefix` and go on with a number, by that number.
  std::vector<std::string> numbered(std::string_view folder, std::string_view prefix) const;

 private:
  std::filesystem::path root_;
};

/// The lines of a text.
std::vector<std::string_view> lines_of(std::string_view text);
/// The value in the first line "key : value" of a text; empty where there is none.
std::string field_of(std::string_view text, std::string_view key);
/// Whether a list of words has this one.
bool has_word(std::string_view words, std::string_view word);
/// A whole number >= 0 at the start of a text; -1 where there is none or it is beyond 63 bits.
std::int64_t number_of(std::string_view text);
/// More processors than any kernel could have.
inline constexpr int kMaxProcessors = 1 << 20;
/// The processors of a list such as "0-3,8"; empty where it is none.
std::vector<int> processors_of(std::string_view list);

}  // namespace lloyd::machine
