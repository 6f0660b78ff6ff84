#include "ipc/last_words.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>

#include "text/utf8.hpp"

namespace lloyd::apps {
namespace {

constexpr std::size_t kMaxErrorBytes = 200;

bool reads_like_error(std::string_view line) {
  std::string lower(line);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view word : {"error",     "fatal",   "exception",    "fail",
                                      "cannot",    "can't",   "could not",    "unable",
                                      "not found", "no such", "not enough",   "out of memory",
                                      "denied",    "refused", "abort",        "terminate called",
                                      "invalid",   "unknown", "unrecognized", "killed",
                                      "as root"}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  return false;
}

// True if the sentence of a line continues on the next one, as in text that is wrapped.
bool is_wrapped(std::string_view line) {
  constexpr std::size_t kMinWidth = 60;
  return line.size() >= kMinWidth && std::string_view(".:;!").find(line.back()) == line.npos;
}

// Drops the rest of a UTF-8 character that was cut.
std::string_view from_character(std::string_view text) {
  std::size_t begin = 0;
  while (begin < std::min<std::size_t>(3, text.size()) && continues_code_point(text[begin])) {
    ++begin;
  }
  return text.substr(begin);
}

// Of a tail that begins anywhere: its complete lines, or "..." and the tail if they are less than
// half of it.
std::string from_line(std::string_view tail) {
  const std::size_t line = tail.find('\n') + 1;  // 0: none
  if (line > 0 && line <= tail.size() / 2) return std::string(tail.substr(line));
  return "..." + std::string(from_character(tail));
}

}  // namespace

std::string on_one_line(std::string_view text) {
  std::string line;
  bool broken = false;  // by a line break or a tab after the end of `line`
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == '\t') {
      line.erase(line.find_last_not_of(' ') + 1);
      broken = !line.empty();
    } else if (c != ' ' || !(broken || line.empty())) {
      if (std::exchange(broken, false)) line += ' ';
      line += c;
    }
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return printable(line);
}

LastWords::LastWords(std::size_t max_bytes) : KeptOutput(max_bytes) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw Error(fmt::format("cannot make a pipe: {}", descriptor_error(errno)));
  }
  input_ = Descriptor(ends[0]);
  output_ = Descriptor(ends[1]);
  ::fcntl(input_.get(), F_SETFL, O_NONBLOCK);
}

void LastWords::drain() {
  std::array<char, 4096> bytes;  // small: the thread's stack may be
  for (int reads = 0; reads < 256 && input_; ++reads) {
    const ssize_t count = ::read(input_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      input_.close();
      return;
    }
    add({bytes.data(), static_cast<std::size_t>(count)});
  }
}

void KeptOutput::add(std::string_view bytes) {
  look_for_error(bytes);
  total_ += bytes.size();
  words_.append(bytes.substr(bytes.size() - std::min(bytes.size(), max_bytes_)));
  if (words_.size() > max_bytes_) words_.erase(0, words_.size() - max_bytes_);
}

// To be called before total_ includes the bytes.
void KeptOutput::look_for_error(std::string_view bytes) {
  std::uint64_t offset = total_;
  while (!bytes.empty() && !error_complete_) {
    const std::size_t newline = bytes.find('\n');
    const std::size_t size = newline == bytes.npos ? bytes.size() : newline + 1;
    if (line_.bytes.empty()) line_.begin = offset;
    line_.bytes += bytes.substr(0, std::min(size, kMaxErrorBytes - line_.bytes.size()));
    offset += size;
    bytes.remove_prefix(size);
    if (newline != bytes.npos) end_line();
  }
}

void KeptOutput::end_line() {
  const std::string_view line =
      std::string_view(line_.bytes).substr(0, line_.bytes.find_last_not_of(" \r\n") + 1);
  if (error_.bytes.empty() && reads_like_error(line)) error_.begin = line_.begin;
  const bool is_error = !error_.bytes.empty() || reads_like_error(line);
  if (is_error) {
    error_.bytes += line_.bytes.substr(0, kMaxErrorBytes - error_.bytes.size());
    error_complete_ = !is_wrapped(line) || error_.bytes.size() == kMaxErrorBytes;
  }
  line_ = {};
}

void KeptOutput::clear() {
  words_.clear();
  total_ = 0;
  line_ = {};
  error_ = {};
  error_complete_ = false;
}

std::string KeptOutput::text(std::size_t max_bytes) const {
  std::string_view tail = words_;
  tail.remove_prefix(tail.size() - std::min(tail.size(), max_bytes));
  const std::uint64_t begin = total_ - tail.size();
  if (begin == 0) return on_one_line(tail);
  const bool in_last_line = error_.bytes.empty() && reads_like_error(line_.bytes);
  const Passage& error = in_last_line ? line_ : error_;
  if (error.bytes.empty() || error.begin >= begin) return on_one_line(from_line(tail));
  const std::string_view words = error.bytes;
  if (error.end() >= begin) {  // no gap
    return on_one_line(fmt::format("{}{}", words.substr(0, begin - error.begin), tail));
  }
  return fmt::format("{} ... {}", on_one_line(words), on_one_line(from_line(tail)));
}

std::string KeptOutput::last_line(std::string_view prefix) const {
  std::string_view rest = words_;
  while (!rest.empty()) {
    const std::size_t end = rest.find_last_not_of('\n');
    if (end == std::string_view::npos) break;
    rest = rest.substr(0, end + 1);
    const std::size_t before = rest.rfind('\n');
    const std::string_view line = rest.substr(before == std::string_view::npos ? 0 : before + 1);
    if (line.starts_with(prefix)) return on_one_line(line.substr(prefix.size()));
    rest = rest.substr(0, rest.size() - line.size());
  }
  return {};
}

std::string with_last_words(std::string sentence, const std::string& words) {
  return words.empty() ? sentence : fmt::format("{}; last words: {}", sentence, words);
}

}  // namespace lloyd::apps
