// The rows of a data file that one rank holds.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <lloyd/data/row_source.hpp>
#include <lloyd/dataset.hpp>
#include <lloyd/rounding.hpp>

#include "fit/ranks/rank_scope.hpp"
#include "options/backend_options.hpp"
#include "options/bounded_data.hpp"

namespace lloyd::apps {

/// Throws InputError if `what` was given, which works only with one process; `instead`: what to do.
void refuse_on_ranks(bool given, std::string_view what, std::string_view instead);

/// Throws InputError for data files that can only be read by one process: text, .npz and standard
/// input, and for --drop-missing.
void refuse_single_process_data(const DataOptions& data);

/// BoundedFile::rounding_losses() of the file that all ranks have opened as `source`; collective.
/// If integers were rounded, each rank reads its rows once. Throws on all ranks as
/// hold_rank_rows() does.
std::vector<RoundingLoss> rounding_losses_on_ranks(
    const std::shared_ptr<const RowSource>& source, const MemoryOption& memory,
    const std::shared_ptr<Communicator>& communicator);

/// A part of a data set; see Dataset::part().
struct RankData {
  Dataset dataset;
  std::int64_t block_rows = 0;   ///< rows per block, for BackendSession; 0: in memory
  std::int64_t window_rows = 0;  ///< rows per window, for BackendSession
};

/// Takes this rank's rows of `source`, which all ranks have opened: in memory if a fit of them with
/// the chosen backend stays within the memory limit of the process, otherwise in blocks, which rank
/// 0 notes on standard error. `output_bytes`: memory for outputs of this rank. Without a limit, the
/// ranks of a host share its usable memory evenly. Collective. Throws on all ranks if the sources
/// differ, if the memory of a rank does not suffice, if a value is invalid, and once a rank is
/// interrupted.
RankData hold_rank_rows(std::shared_ptr<const RowSource> source, const ChosenBackend& chosen,
                        const FitOptions& options, const MemoryOption& memory,
                        const RankScope& scope, std::int64_t output_bytes = 0);

}  // namespace lloyd::apps
