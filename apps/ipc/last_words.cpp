#include "ipc/last_words.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>

namespace lloyd::apps {

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

LastWords::LastWords(std::size_t max_bytes) : max_bytes_(max_bytes) {
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
    const auto size = static_cast<std::size_t>(count);
    const std::size_t kept = std::min(size, max_bytes_);
    words_.append(bytes.data() + (size - kept), kept);
    if (words_.size() > max_bytes_) words_.erase(0, words_.size() - max_bytes_);
  }
}

std::string LastWords::last_line(std::string_view prefix) const {
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
