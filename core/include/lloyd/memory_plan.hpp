// Memory plan: decides whether a data set is held in memory or read block by block.
#pragma once

#include <cstdint>
#include <string>

#include <lloyd/fit.hpp>

namespace lloyd {

/// Allowance for the program, its libraries and the runtime of a backend, in bytes.
inline constexpr std::int64_t kProgramBytes = 32 << 20;

/// The memory plan of a fit.
struct MemoryPlan {
  /// 0: the data set is held in memory; else the rows per block, of which two are held.
  std::int64_t block_rows = 0;
  /// Rows per window, two of which are held during a fit in which the backend keeps labels and
  /// bounds of all samples between the passes; 0: it keeps nothing. For BackendSession.
  std::int64_t window_rows = 0;
  std::int64_t bytes = 0;  ///< estimated peak of the process's host memory
};

/// Plans a fit of the data set `name` of `shape` (stride d) within `limit` bytes of host memory: in
/// memory if that fits, else in the largest useful blocks, with fits in windows if the backend has
/// them and its memory for all samples fits. The plan counts the data or the blocks,
/// labels, seeding, the backend's estimate, `reading_bytes` (RowSource::reading_bytes()),
/// `output_bytes` (memory for outputs that the caller computes from the result), `ranks_bytes`
/// (distributed_bytes() for a rank of several) and kProgramBytes.
/// Throws InputError, with the smallest sufficient limit, if not even blocks of one row fit, or if
/// `in_blocks` is false and the whole does not fit, and for a shape with samples < 0, features < 1
/// or clusters < 1; a rank of several may have no samples. Throws BackendError if the backend
/// cannot estimate its memory.
MemoryPlan plan_memory(const std::string& name, const LoadedBackend& backend,
                       const ProblemShape& shape, const ParameterSet& parameters,
                       const FitOptions& options, std::int64_t limit, bool in_blocks = true,
                       std::int64_t reading_bytes = 0, std::int64_t output_bytes = 0,
                       std::int64_t ranks_bytes = 0);

/// Memory that a rank of a distributed fit takes beyond a fit of its rows in one process, in bytes:
/// statistics of its blocks of rows, messages, and sums in several forms. `shape`: that of its
/// rows.
std::int64_t distributed_bytes(const ProblemShape& shape);

}  // namespace lloyd
