#include "dataset/row_blocks.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd {

void read_block(const RowSource& source, RowRange rows, void* values, MarkedRows marked) {
  const auto fail = [&](const char* cause) {
    throw InputError(fmt::format("reading rows {} to {} of {}: {}", rows.begin, rows.end - 1,
                                 source.name(), cause));
  };
  try {
    read_filled(source, rows, values, marked);
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

RowBlocks::RowBlocks(const RowSource& source, std::int64_t block_rows, MarkedRows marked)
    : source_(source), block_rows_(std::min(block_rows, source.samples())), marked_(marked) {
  if (block_rows < 1) {
    throw InputError(
        fmt::format("{}: block_rows is {}; data that is not in memory is read in blocks "
                    "of at least 1 row",
                    source.name(), block_rows));
  }
}

std::byte* RowBlocks::allocated(Buffer& buffer) const {
  if (buffer == nullptr) {
    const std::int64_t bytes = block_rows_ * source_.features() * size_of(source_.dtype());
    void* const memory = ::operator new(static_cast<std::size_t>(bytes), kAlignment);
    buffer.reset(static_cast<std::byte*>(memory));
  }
  return buffer.get();
}

void RowBlocks::release() {
  for (Buffer& buffer : buffers_) buffer.reset();
}

RowRange RowBlocks::first_block(RowRange rows) const {
  return {rows.begin, std::min(rows.begin + block_rows_, rows.end)};
}

double RowBlocks::read(RowRange rows, std::byte* values) const {
  const auto start = std::chrono::steady_clock::now();
  read_block(source_, rows, values, marked_);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

RowRange RowBlocks::Reader::next(const void** values) {
  if (left_.size() <= 0) return {left_.end, left_.end};
  const RowRange rows = blocks_.first_block(left_);
  if (ahead_.valid()) {
    reading_ms_ += ahead_.get();
    std::swap(blocks_.buffers_[0], blocks_.buffers_[1]);
  } else {
    reading_ms_ += blocks_.read(rows, blocks_.buffer());
  }
  left_.begin = rows.end;
  if (left_.size() > 0) read_ahead();
  *values = blocks_.buffer();
  return rows;
}

void RowBlocks::Reader::read_ahead() {
  std::byte* const buffer = blocks_.allocated(blocks_.buffers_[1]);
  try {
    ahead_ = std::async(std::launch::async, [&blocks = blocks_, next = blocks_.first_block(left_),
                                             buffer] { return blocks.read(next, buffer); });
  } catch (const std::system_error&) {
    // The system has no further thread: next() reads the block itself.
  }
}

void RowBlocks::for_each(RowRange rows, const BlockBody& body) {
  Reader reader(*this, rows);
  const void* values = nullptr;
  for (RowRange block = reader.next(&values); block.size() > 0; block = reader.next(&values)) {
    body(block, values);
  }
}

}  // namespace lloyd
