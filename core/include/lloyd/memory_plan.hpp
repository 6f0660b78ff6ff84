// Whether a fit is held in memory as a whole, or reads its data set block by block.
#pragma once

#include <cstdint>
#include <string>

#include <lloyd/fit.hpp>

namespace lloyd {

/// The program, its libraries, and what a backend's runtime takes for itself.
constexpr std::int64_t kProgramBytes = 32 << 20;

/// How a fit is held.
struct MemoryPlan {
  /// 0: the data set is read into memory; else the rows of a block, of which two are held.
  std::int64_t block_rows = 0;
  std::int64_t bytes = 0;  ///< host memory that the process will hold at its peak, about
};

/// Plans a fit of the data set `name` of `shape` (stride d) within `limit` bytes of host memory: as
/// a whole where that fits, else in the largest blocks that are of use. Counts data or blocks,
/// labels, seeding, what the backend estimates, `reading_bytes` (RowSource::reading_bytes()), and
/// the program itself. Throws InputError when not even blocks of one row fit, or the whole where
/// `in_blocks` rules blocks out, with the least limit that would do; BackendError when the backend
/// cannot say what it needs.
MemoryPlan plan_memory(const std::string& name, const LoadedBackend& backend,
                       const ProblemShape& shape, const ParameterSet& parameters,
                       const FitOptions& options, std::int64_t limit, bool in_blocks = true,
                       std::int64_t reading_bytes = 0);

}  // namespace lloyd
