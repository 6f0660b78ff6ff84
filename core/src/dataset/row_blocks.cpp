#include "dataset/row_blocks.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd {

std::int64_t usual_block_rows(const RowSource& source) {
  constexpr std::int64_t kBlockBytes = std::int64_t{4} << 20;
  return kBlockBytes / (source.features() * size_of(source.dtype())) + 1;
}

RowBlocks::RowBlocks(const RowSource& source, std::int64_t block_rows)
    : source_(source), block_rows_(std::min(block_rows, source.samples())) {
  if (block_rows < 1) {
    throw InputError(
        fmt::format("{}: block_rows is {}; data that is not in memory is read in blocks "
                    "of at least 1 row",
                    source.name(), block_rows));
  }
  const std::int64_t bytes = block_rows_ * source.features() * size_of(source.dtype());
  buffers_[0] = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  if (block_rows_ == source.samples()) return;
  buffers_[1] = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
}

void RowBlocks::for_each(RowRange rows, const BlockBody& body) {
  const auto block = [&](std::int64_t begin) {
    return RowRange{begin, std::min(begin + block_rows_, rows.end)};
  };
  if (rows.size() <= 0) return;
  source_.read(block(rows.begin), buffers_[0].get());
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += block_rows_) {
    std::future<void> ahead;  // its destructor waits for the reading thread if `body` throws
    if (begin + block_rows_ < rows.end) {
      ahead = std::async(std::launch::async, [this, next = block(begin + block_rows_)] {
        source_.read(next, buffers_[1].get());
      });
    }
    body(block(begin), buffers_[0].get());
    if (!ahead.valid()) return;
    ahead.get();
    std::swap(buffers_[0], buffers_[1]);
  }
}

}  // namespace lloyd
