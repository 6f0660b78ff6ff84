// Code points of UTF-8 text.
#pragma once

namespace lloyd::apps {

/// True for a continuation byte of a code point.
constexpr bool continues_code_point(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

}  // namespace lloyd::apps
