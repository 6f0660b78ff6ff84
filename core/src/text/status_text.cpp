#include <lloyd/internal/status_text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd {

namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  // 0: invalid UTF-8
};

// Decodes the first code point of a non-empty text.
CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t value = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kSmallest[bytes] || value > 0x10ffff || surrogate) return {};
  return {value, bytes};
}

struct CodeRange {
  std::uint32_t first, last;
};

// Code points that control a terminal, reorder text or are invisible.
constexpr CodeRange kUnprintable[] = {
    {0x0000, 0x001f},    // controls of C0
    {0x007f, 0x009f},    // DEL, controls of C1
    {0x00ad, 0x00ad},    // soft hyphen
    {0x034f, 0x034f},    // combining grapheme joiner
    {0x061c, 0x061c},    // Arabic letter mark
    {0x115f, 0x1160},    // Hangul fillers
    {0x17b4, 0x17b5},    // Khmer vowels that are not shown
    {0x180b, 0x180f},    // Mongolian selectors and vowel separator
    {0x200b, 0x200f},    // zero-width characters and directional marks
    {0x2028, 0x202e},    // line and paragraph separators, bidirectional embeddings and overrides
    {0x2060, 0x206f},    // word joiner, bidirectional isolates
    {0x3164, 0x3164},    // Hangul filler
    {0xfdd0, 0xfdef},    // noncharacters
    {0xfeff, 0xfeff},    // byte-order mark
    {0xffa0, 0xffa0},    // halfwidth Hangul filler
    {0xfff0, 0xfffb},    // unassigned, annotations
    {0xe0000, 0xe0fff},  // tags, more variation selectors
};

bool is_printable(std::uint32_t code) {
  if ((code & 0xfffe) == 0xfffe) return false;  // noncharacters at the end of each plane
  return std::none_of(std::begin(kUnprintable), std::end(kUnprintable),
                      [=](CodeRange range) { return range.first <= code && code <= range.last; });
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const CodePoint code = decode(text);
    const std::size_t bytes = std::max<std::size_t>(1, code.bytes);
    if (code.bytes > 0 && is_printable(code.value)) {
      result += text.substr(0, bytes);
    } else {
      result += '?';
    }
    text.remove_prefix(bytes);
  }
  return result;
}

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const CodePoint code = decode(text);
    const std::size_t bytes = std::max<std::size_t>(1, code.bytes);
    const bool is_shown = code.bytes > 0 && is_printable(code.value);
    for (const char byte : text.substr(0, bytes)) {
      if (is_shown) {
        result += byte;
      } else {
        result += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    }
    text.remove_prefix(bytes);
  }
  return result;
}

std::string printable_lines(std::string_view text) {
  std::string result;
  for (;;) {
    const std::size_t length = text.find('\n');
    result += printable(text.substr(0, length));
    if (length == std::string_view::npos) return result;
    result += '\n';
    text.remove_prefix(length + 1);
  }
}

std::string_view cut_text(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  const auto continues_character = [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
  };
  while (limit > 0 && continues_character(text[limit])) --limit;
  return text.substr(0, limit);
}

std::string status_message(const Status& status) {
  const char* end = std::find(status.message, status.message + sizeof(status.message), '\0');
  if (end != status.message) return escaped({status.message, end});
  switch (status.code) {
    case StatusCode::ok:
      return "no error";
    case StatusCode::cancelled:
      return "cancelled";
    case StatusCode::invalid_argument:
      return "invalid argument";
    case StatusCode::unsupported:
      return "not supported";
    case StatusCode::unavailable:
      return "not available";
    case StatusCode::out_of_memory:
      return "out of memory";
    case StatusCode::empty_cluster:
      return "a cluster became empty";
    case StatusCode::device_error:
      return "device error";
    case StatusCode::internal:
      return "internal error without a message";
  }
  return fmt::format("unknown status code {}", static_cast<int>(status.code));
}

void throw_unless_ok(const std::string& backend, const Status& status) {
  if (status.ok()) return;
  const std::string message = status_message(status);
  const std::string name = backend + ": ";  // a session of the core may have added it already
  throw BackendError(status.code, message.starts_with(name) ? message : name + message);
}

}  // namespace lloyd
