// SystemFiles: reads files of /proc and /sys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lloyd::machine {

/// Reads files below `root`, which is "/" except in tests.
class SystemFiles {
 public:
  explicit SystemFiles(std::filesystem::path root = "/") : root_(std::move(root)) {}

  /// The folder that holds proc and sys, as a prefix of paths: empty for "/".
  std::string root() const { return root_ == "/" ? std::string() : root_.string(); }
  /// Content of a file such as "/proc/cpuinfo", without trailing line feeds; empty if it cannot be
  /// read.
  std::string text(std::string_view file) const;
  /// Names in a folder of the form `prefix` + number, sorted by the number.
  std::vector<std::string> numbered(std::string_view folder, std::string_view prefix) const;

 private:
  std::filesystem::path root_;
};

/// Splits a text into lines, without line feeds. They point into `text`.
std::vector<std::string_view> lines_of(std::string_view text);
/// The value of the first line "key : value"; empty if there is none.
std::string field_of(std::string_view text, std::string_view key);
/// True if the blank-separated list contains the word.
bool has_word(std::string_view words, std::string_view word);
/// Parses a whole number >= 0 at the start of a text, after white space; -1 if there is none or it
/// exceeds 63 bits.
std::int64_t number_of(std::string_view text);
/// Exceeds the number of processors of any kernel.
inline constexpr int kMaxProcessors = 1 << 20;
/// Parses a processor list such as "0-3,8"; empty if it is malformed.
std::vector<int> processors_of(std::string_view list);

}  // namespace lloyd::machine
