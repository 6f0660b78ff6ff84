// SourceWindows: the rows of a source in windows, for one pass of a backend.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>

#include <lloyd/plugin/abi/windowed_passes.hpp>

#include "dataset/row_blocks.hpp"

namespace lloyd {

/// A window has the rows of a block of RowBlocks. A plugin calls the methods, so none of them
/// throws.
class SourceWindows final : public RowWindows {
 public:
  /// How rows get into memory.
  enum class Reading {
    ahead,    ///< before next() returns, while a second thread reads the next window: for disks
    on_load,  ///< by load(), on its threads: if the file is in the page cache
  };

  /// `blocks` must outlive it, and no Reader of it may exist. `mapping`: used instead of the memory
  /// of `blocks` to read on load; may be null. `before`, unless empty, is called with the rows and
  /// values of each window before next() returns it; it requires Reading::ahead.
  SourceWindows(RowBlocks& blocks, Reading reading, const RowMapping* mapping,
                BlockBody before = {});
  ~SourceWindows();
  SourceWindows(const SourceWindows&) = delete;
  SourceWindows& operator=(const SourceWindows&) = delete;

  Status next(RowRange* rows, const void** data) noexcept override;
  Status load(RowRange rows) noexcept override;

  /// Calls `before` for the windows that the pass has left.
  void finish();
  /// Throws what the source or `before` threw in next() or load(), if anything.
  void rethrow_failure() const;
  /// True if the rows were read so fast that they cannot have come from a disk.
  bool was_fast() const;

 private:
  template <class Body>
  Status keep_failure(const Body& body) noexcept;
  // Moves to the next window and returns its values.
  const void* advance();

  RowBlocks& blocks_;
  const RowMapping* mapping_;
  BlockBody before_;
  std::int64_t row_bytes_;
  RowRange window_;  // the current one
  std::int64_t samples_;
  std::optional<RowBlocks::Reader> reader_;  // null: load() reads
  std::atomic<std::int64_t> loading_ns_{0};  // summed over threads
  mutable std::mutex mutex_;                 // of failure_
  std::exception_ptr failure_;
};

}  // namespace lloyd
