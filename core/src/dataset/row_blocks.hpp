// RowBlocks: iterates over rows that are not in memory, block by block, reading ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <new>

#include <lloyd/data/row_source.hpp>

#include "dataset/row_marks.hpp"

namespace lloyd {

/// Receives consecutive rows and their values, row-major without gaps.
using BlockBody = std::function<void(RowRange rows, const void* data)>;
/// Calls a body for blocks that cover some rows of a data set in ascending order.
using ReadBlocks = std::function<void(RowRange rows, const BlockBody& body)>;

/// Reads rows of a source. InputError and Cancelled are passed on; any other exception of the
/// source becomes an InputError that names the rows and the source. Throws InputError if the source
/// does not fill a row that is marked.
void read_block(const RowSource& source, RowRange rows, void* values,
                MarkedRows marked = MarkedRows::last);

/// Rows of a block of about 4 MiB, for work without a memory plan; at least 1.
std::int64_t usual_block_rows(const RowSource& source);
/// Rows of a block of 64 KiB, at least 1. The cost of smaller blocks exceeds that of their values.
std::int64_t min_block_rows(const RowSource& source);

class RowBlocks {
 public:
  /// Holds two blocks of `block_rows` rows (>= 1), or one of all rows if the source has no more,
  /// from the first use on. `source` must outlive this object. Throws InputError for
  /// block_rows < 1. `marked`: see read_block().
  RowBlocks(const RowSource& source, std::int64_t block_rows, MarkedRows marked = MarkedRows::last);

  /// Reads blocks that cover some rows in ascending order, while a second thread, if it can be
  /// started, reads the next block. One at a time may exist.
  class Reader {
   public:
    /// `blocks` must outlive the reader.
    Reader(RowBlocks& blocks, RowRange rows) : blocks_(blocks), left_(rows) {}
    /// Returns the rows of the next block, none after the last one, and its values, which are valid
    /// until the next call. Throws what the source throws.
    RowRange next(const void** values);
    /// Time spent on reading the blocks that next() has returned, milliseconds.
    double reading_ms() const { return reading_ms_; }

   private:
    void read_ahead();

    RowBlocks& blocks_;
    RowRange left_;
    double reading_ms_ = 0;
    // Time of reading the next block. Its destructor waits for the thread that reads.
    std::future<double> ahead_;
  };

  /// Calls `body` for blocks that cover `rows` in ascending order, see Reader. Throws what the
  /// source or `body` throws.
  void for_each(RowRange rows, const BlockBody& body);
  void for_each(const BlockBody& body) { for_each({0, source_.samples()}, body); }

  const RowSource& source() const { return source_; }
  /// The first rows of `rows`, as many as a block has.
  RowRange first_block(RowRange rows) const;
  /// Memory of a block, for callers that read its rows themselves.
  std::byte* buffer() { return allocated(buffers_[0]); }
  /// Frees the blocks until the next use. Not while a Reader exists.
  void release();

 private:
  struct FreeBuffer {
    void operator()(std::byte* buffer) const { ::operator delete(buffer, kAlignment); }
  };
  // Kernels read whole cache lines.
  static constexpr std::align_val_t kAlignment{64};

  using Buffer = std::unique_ptr<std::byte, FreeBuffer>;

  std::byte* allocated(Buffer& buffer) const;
  // Returns the time that it took, milliseconds.
  double read(RowRange rows, std::byte* values) const;

  const RowSource& source_;
  std::int64_t block_rows_;
  MarkedRows marked_;
  Buffer buffers_[2];
};

}  // namespace lloyd
