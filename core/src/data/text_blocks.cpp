#include "data/text_blocks.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>

namespace lloyd {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 21;
constexpr std::size_t kLimit = std::size_t{1} << 28;

}  // namespace

TextBlocks::TextBlocks(const std::filesystem::path& file)
    // A byte more than a small file has shows its end.
    : file_(file), block_(std::min(kBlock, static_cast<std::size_t>(file_.size()) + 4096)) {
  if (small_extension(file).ends_with(".gz")) gzip_.emplace(file_);
}

std::string_view TextBlocks::next() {
  filled_ -= given_;
  if (filled_ > 0) std::memmove(buffer_.data(), buffer_.data() + given_, filled_);
  given_ = 0;
  return grow();
}

std::string_view TextBlocks::extend() {
  return grow();
}

std::string_view TextBlocks::grow() {
  while (!ended_) {
    if (filled_ > kLimit) {
      throw InputError(
          fmt::format("{}: 256 MiB of text follow one another without a row's end", path()));
    }
    if (buffer_.size() - filled_ < block_) {
      buffer_.resize(std::max(filled_ + block_, 2 * buffer_.size()));
    }
    char* const end = buffer_.data() + filled_;
    const std::size_t count = gzip_ ? gzip_->read(end, block_)
                                    : static_cast<std::size_t>(file_.read_some(
                                          offset_, end, static_cast<std::int64_t>(block_)));
    if (!gzip_) offset_ += static_cast<std::int64_t>(count);
    filled_ += count;
    ended_ = count < block_;
    const std::string_view added(end, count);
    const std::size_t last = added.rfind('\n');
    if (last == std::string_view::npos) continue;
    given_ = filled_ - count + last + 1;
    if (!ended_) return {buffer_.data(), given_};
  }
  given_ = filled_;
  return {buffer_.data(), given_};
}

double TextBlocks::fraction() const {
  const std::int64_t done = gzip_ ? gzip_->position() : offset_;
  return file_.size() == 0 ? 1 : static_cast<double>(done) / static_cast<double>(file_.size());
}

std::optional<std::int64_t> TextBlocks::bytes_left() const {
  if (gzip_) return std::nullopt;
  return std::max<std::int64_t>(0, file_.size() - offset_) +
         static_cast<std::int64_t>(filled_ - given_);
}

}  // namespace lloyd
