#include "output/foreign_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>

#include "output/messages.hpp"
#include "output/reader.hpp"

namespace lloyd::apps {
namespace {

constexpr std::size_t kBlock = 4096;
// More than a pipe holds. Bytes beyond it come from a process that escaped the supervisor.
constexpr std::size_t kMaxRest = std::size_t{1} << 21;

// Number of bytes at the end of the text that may begin an incomplete UTF-8 sequence.
std::size_t cut_sequence(std::string_view text) {
  for (std::size_t length = 1; length <= std::min<std::size_t>(3, text.size()); ++length) {
    const auto byte = static_cast<unsigned char>(text[text.size() - length]);
    if ((byte & 0xc0) == 0x80) continue;  // continuation byte
    const std::size_t needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > length ? length : 0;
  }
  return 0;
}

}  // namespace

std::pair<Descriptor, Descriptor> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw Error(fmt::format("cannot make a pipe: {}", descriptor_error(errno)));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

ForeignOutput::ForeignOutput(Descriptor pipe, KeptOutput* kept)
    : pipe_(std::move(pipe)), kept_(kept) {
  ::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
}

pollfd ForeignOutput::waited() const {
  if (!shown_.empty()) return {message_descriptor(), POLLOUT, 0};
  return {pipe_.get(), POLLIN, 0};  // poll(2) ignores negative descriptors
}

void ForeignOutput::pass_on() {
  if (shown_.empty()) read_some();
  if (!shown_.empty()) write_some();
}

void ForeignOutput::pass_on_available() {
  constexpr int kMaxCalls = 512;  // more than a pipe holds; a writer may go on without end
  for (int call = 0; call < kMaxCalls; ++call) {
    pollfd ready = waited();
    if (::poll(&ready, 1, 0) <= 0) return;
    pass_on();
  }
}

void ForeignOutput::read_some() {
  if (!pipe_) return;
  std::array<char, kBlock> bytes;
  const std::size_t wanted = ending_ ? std::min(left_, bytes.size()) : bytes.size();
  const ssize_t count = ::read(pipe_.get(), bytes.data(), wanted);
  if (count < 0 && errno == EINTR) return;
  if (count > 0) {
    if (kept_ != nullptr) kept_->add({bytes.data(), static_cast<std::size_t>(count)});
    std::string text = std::move(cut_);
    text.append(bytes.data(), static_cast<std::size_t>(count));
    const std::size_t cut = cut_sequence(text);
    cut_ = text.substr(text.size() - cut);
    shown_ = printable_lines(std::string_view(text).substr(0, text.size() - cut));
    if (ending_) left_ -= static_cast<std::size_t>(count);
  }
  const bool end = count == 0 || (count < 0 && (errno != EAGAIN || ending_));
  if (!end) return;
  pipe_.close();
  shown_ += printable(std::exchange(cut_, {}));
  if (shown_.empty() ? line_open_ : shown_.back() != '\n') shown_ += '\n';
  shown_ += last_words_;
}

// Drops the text if it cannot be written.
void ForeignOutput::write_some() {
  const int messages = message_descriptor();
  const ssize_t written = write_at_once(messages, shown_);
  if (written < 0 && (errno == EINTR || errno == EAGAIN)) return;
  line_open_ = written > 0 && shown_[static_cast<std::size_t>(written) - 1] != '\n';
  shown_.erase(0, written < 0 ? std::string::npos : static_cast<std::size_t>(written));
}

void ForeignOutput::finish(std::string_view last_words, const std::function<bool()>& stop) {
  constexpr int kApart = 100;  // milliseconds
  ending_ = true;
  left_ = kMaxRest;
  last_words_ = last_words;
  if (!pipe_) shown_ += last_words_;
  while ((pipe_ || !shown_.empty()) && !stop()) {
    pollfd ready = waited();
    if (!shown_.empty()) ::poll(&ready, 1, kApart);
    pass_on();
  }
}

}  // namespace lloyd::apps
