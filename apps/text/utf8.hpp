// Code points of UTF-8 text.
#pragma once

namespace lloyd::apps {

/// Whether the byte is the second or a later one of a code point.
constexpr bool continues_code_point(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

}  // namespace lloyd::apps
