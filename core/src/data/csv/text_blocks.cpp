#include "data/csv/text_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>

namespace lloyd {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 21;
}  // namespace

TextBlocks::TextBlocks(const std::filesystem::path& file, std::int64_t line_limit,
                       std::function<bool()> stop, const NumberNotation& notation)
    // One byte more than a small file has, so that a read shows its end.
    : file_(file),
      block_(std::min(kBlock, static_cast<std::size_t>(file_.size()) + 4096)),
      line_limit_(static_cast<std::size_t>(line_limit)),
      stop_(std::move(stop)),
      notation_(notation) {
  if (lower_case_extension(file).ends_with(".gz")) gzip_.emplace(file_);
}

std::string_view TextBlocks::next(std::int64_t line) {
  filled_ -= given_;
  if (filled_ > 0) std::memmove(buffer_.data(), buffer_.data() + given_, filled_);
  given_ = 0;
  return grow(line);
}

std::string_view TextBlocks::extend(std::int64_t line) {
  return grow(line);
}

std::string_view TextBlocks::grow(std::int64_t line) {
  while (!ended_) {
    if (stop_ && stop_()) throw Cancelled();
    if (filled_ - given_ > line_limit_) {
      throw InputError(fmt::format("{}, line {}: the line does not end within {:.0f} MiB", path(),
                                   line, static_cast<double>(line_limit_) / 0x1p20));
    }
    if (buffer_.size() - filled_ < block_) buffer_.resize(filled_ + block_);
    char* const end = buffer_.data() + filled_;
    const std::size_t count = gzip_ ? gzip_->read(end, block_)
                                    : static_cast<std::size_t>(file_.read_some(
                                          offset_, end, static_cast<std::int64_t>(block_)));
    file_.check_unchanged();
    if (!gzip_) offset_ += static_cast<std::int64_t>(count);
    filled_ += count;
    ended_ = count < block_;
    const std::string_view added(end, count);
    const std::size_t last = added.rfind('\n');
    if (last == std::string_view::npos) continue;
    if (!ended_) return give(filled_ - count + last + 1);
  }
  return give(filled_);
}

// Returns the block up to `end`. Rewrites the numbers of the lines that are returned for the first
// time.
std::string_view TextBlocks::give(std::size_t end) {
  if (notation_.differs()) {
    rewrite_numbers(buffer_.data() + given_, buffer_.data() + end, notation_);
  }
  given_ = end;
  return {buffer_.data(), given_};
}

double TextBlocks::fraction() const {
  const std::int64_t done = gzip_ ? gzip_->position() : offset_;
  return file_.size() == 0 ? 1 : static_cast<double>(done) / static_cast<double>(file_.size());
}

}  // namespace lloyd
