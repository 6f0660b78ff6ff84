// gzip_bytes: a text as the bytes of a gzip file.
#pragma once

#include <zlib.h>

#include <string>

#include <gtest/gtest.h>

namespace lloyd {

/// `level` 0: stored, about as long as the text; 9: best compression.
inline std::string gzip_bytes(const std::string& text, int level) {
  z_stream stream = {};
  deflateInit2(&stream, level, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string bytes(text.size() + text.size() / 100 + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

}  // namespace lloyd
