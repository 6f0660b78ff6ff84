#include "data/io/gzip_stream.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd {

struct GzipStream::Inflater {
  Inflater() {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream = {};
};

GzipStream::GzipStream(const InputFile& file)
    : file_(file), inflater_(std::make_unique<Inflater>()), input_(std::size_t{1} << 16) {}

GzipStream::~GzipStream() = default;

void GzipStream::fill() {
  z_stream& stream = inflater_->stream;
  if (stream.avail_in > 0) return;
  const std::int64_t count = file_.read_some(offset_, input_.data(), std::ssize(input_));
  offset_ += count;
  stream.next_in = input_.data();
  stream.avail_in = static_cast<uInt>(count);
}

// Begins the next member; false at the end of the file.
bool GzipStream::begin_member() {
  constexpr unsigned char kMagic = 0x1f;  // first of two bytes
  z_stream& stream = inflater_->stream;
  const bool first = offset_ == 0;
  for (fill(); stream.avail_in > 0; fill()) {
    if (*stream.next_in == kMagic) {
      inflateReset(&stream);
      return true;
    }
    if (first || *stream.next_in != 0) break;
    ++stream.next_in;
    --stream.avail_in;
  }
  if (first) {
    throw InputError(fmt::format("{}: is not a gzip file: {}", file_.path(),
                                 stream.avail_in == 0 ? "it is empty" : "it has no gzip header"));
  }
  if (stream.avail_in == 0) return false;
  throw InputError(fmt::format("{}: other bytes follow the gzip data, from byte {} on",
                               file_.path(), offset_ - stream.avail_in));
}

std::size_t GzipStream::read(char* buffer, std::size_t size) {
  z_stream& stream = inflater_->stream;
  std::size_t done = 0;
  while (done < size && !ended_) {
    if (!in_member_) {
      in_member_ = begin_member();
      ended_ = !in_member_;
      continue;
    }
    fill();
    if (stream.avail_in == 0) {
      throw InputError(
          fmt::format("{}: the gzip data is truncated: the file ends inside it", file_.path()));
    }
    const std::size_t room = std::min<std::size_t>(size - done, std::numeric_limits<uInt>::max());
    stream.next_out = reinterpret_cast<Bytef*>(buffer + done);
    stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream, Z_NO_FLUSH);
    done += room - stream.avail_out;
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_STREAM_END) in_member_ = false;
    if (status == Z_OK || status == Z_STREAM_END) continue;
    throw InputError(fmt::format("{}: the gzip data is damaged near byte {}: {}", file_.path(),
                                 offset_ - stream.avail_in,
                                 stream.msg != nullptr ? stream.msg : "it makes no progress"));
  }
  return done;
}

}  // namespace lloyd
