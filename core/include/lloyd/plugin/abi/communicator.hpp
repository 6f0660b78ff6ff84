// Communicator: the message passing of a distributed fit. Each rank holds a part of the rows of a
// data set; the core calls the same operations on all ranks.
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/status.hpp>
#include <lloyd/plugin/abi/types.hpp>

namespace lloyd {

/// Type of the elements of a reduction.
enum class ElementType : std::int32_t {
  int64 = 0,    ///< std::int64_t
  float64 = 1,  ///< double
};

/// Operation of a reduction.
enum class ReduceOp : std::int32_t {
  sum = 0,  ///< only of int64; the core's sums do not overflow
  min = 1,  ///< smallest value
  max = 2,  ///< largest value
};

/// Request for a reduction over all ranks, in place: element i of the array becomes the sum,
/// minimum or maximum of the elements i of all ranks. All members except `data`, `device` and
/// `stream` are the same on all ranks.
struct ReduceRequest {
  std::uint64_t struct_size = sizeof(ReduceRequest);  ///< sizeof on the allocating side
  void* data = nullptr;                               ///< `count` elements, in and out
  std::int64_t count = 0;                             ///< number of elements, >= 0
  ElementType type = ElementType::int64;              ///< type of the elements
  ReduceOp op = ReduceOp::sum;                        ///< operation
  MemorySpace memory_space = MemorySpace::host;       ///< of `data`
  std::int32_t device = 0;  ///< index of the device, for MemorySpace::device
  void* stream = nullptr;   ///< CUDA stream that orders the reduction, for MemorySpace::device
};
static_assert(sizeof(ReduceRequest) == 48);

/// A fixed group of ranks 0 to size() - 1, one of which is the caller. The operations below are
/// collective: every rank calls the same ones in the same order, from one thread at a time. An
/// operation that fails returns StatusCode::unavailable, with one sentence that says which
/// operation failed and, if known, which rank is the cause. After a failure, all later operations
/// fail.
class Communicator {
 public:
  /// The caller's rank.
  virtual std::int32_t rank() const noexcept = 0;
  /// The number of ranks, >= 1.
  virtual std::int32_t size() const noexcept = 0;
  /// Reduces arrays of all ranks. Returns `unsupported` for a memory space that it cannot use.
  virtual Status all_reduce(const ReduceRequest& request) noexcept = 0;
  /// Copies `count` bytes in host memory from rank `root` to all others.
  virtual Status broadcast(void* bytes, std::int64_t count, std::int32_t root) noexcept = 0;
  /// Copies `bytes` bytes from each rank to all: `all` receives size() x bytes, by ascending rank.
  /// Both arrays are in host memory and do not overlap.
  virtual Status all_gather(const void* mine, std::int64_t bytes, void* all) noexcept = 0;
  /// Returns when all ranks have called it.
  virtual Status barrier() noexcept = 0;
  /// An operation fails after it has waited this many seconds for a rank that neither takes part
  /// nor signals progress, by progress() or in the implementation's own way; 0: never.
  virtual void set_timeout(double seconds) noexcept = 0;
  /// Tells ranks that wait for this one that it is at work. Not collective, cheap, and may be
  /// called from any thread; the core calls it during long work.
  virtual void progress() noexcept = 0;
  /// Makes the current and all later operations fail, with this message (zero-terminated, UTF-8),
  /// on all ranks that can be reached. Not collective; may be called from any thread.
  virtual void abort(const char* message) noexcept = 0;
  /// After a failure: true on exactly one rank of each group of ranks that can still communicate;
  /// that rank reports the failure to the user. Not collective; may wait a moment for messages of
  /// other ranks.
  virtual bool reports_failure() noexcept = 0;
  /// Extension point: the interface of that name, or null if there is none.
  virtual void* query(const char* interface_name) noexcept = 0;
  /// Destroys the caller's communicator. May wait until all ranks release theirs; after a failure
  /// it does not wait.
  virtual void release() noexcept = 0;

 protected:
  ~Communicator() = default;
};

}  // namespace lloyd
