#include "dataset/row_blocks.hpp"

#include <algorithm>
#include <exception>
#include <future>
#include <new>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd {

void read_block(const RowSource& source, RowRange rows, void* values) {
  const auto fail = [&](const char* cause) {
    throw InputError(fmt::format("reading rows {} to {} of {}: {}", rows.begin, rows.end - 1,
                                 source.name(), cause));
  };
  try {
    source.read(rows, values);
  } catch (const InputError&) {
    throw;
  } catch (const Cancelled&) {
    throw;
  } catch (const std::bad_alloc&) {
    fail("host memory is exhausted");
  } catch (const std::exception& error) {
    fail(error.what());
  } catch (...) {
    fail("the source threw an exception that is not a std::exception");
  }
}

std::int64_t usual_block_rows(const RowSource& source) {
  constexpr std::int64_t kBlockBytes = std::int64_t{4} << 20;
  return kBlockBytes / (source.features() * size_of(source.dtype())) + 1;
}

std::int64_t min_block_rows(const RowSource& source) {
  constexpr std::int64_t kBlockBytes = std::int64_t{64} << 10;
  return (kBlockBytes - 1) / (source.features() * size_of(source.dtype())) + 1;
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
  read_block(source_, block(rows.begin), buffers_[0].get());
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += block_rows_) {
    std::future<void> ahead;  // its destructor waits for the reading thread if `body` throws
    if (begin + block_rows_ < rows.end) {
      ahead = std::async(std::launch::async, [this, next = block(begin + block_rows_)] {
        read_block(source_, next, buffers_[1].get());
      });
    }
    body(block(begin), buffers_[0].get());
    if (!ahead.valid()) return;
    ahead.get();
    std::swap(buffers_[0], buffers_[1]);
  }
}

}  // namespace lloyd
