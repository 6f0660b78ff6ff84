// StreamedSession: a session on a data set that is not in memory, made of a backend's partial
// passes or of its passes in windows.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/parameter_set.hpp>
#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/abi/session_notes.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>
#include <lloyd/registry.hpp>

#include "dataset/row_blocks.hpp"
#include "fit/streamed_passes.hpp"
#include "seeding/streamed_seeding.hpp"

namespace lloyd {

/// Every pass reads the rows block by block. By default it opens a session of the backend on each
/// block and takes its partial(). In windows, fit() and PassKernels use one session of the backend
/// for all rows, which keeps labels and bounds from pass to pass; see StreamedPasses. Sums are
/// exact or in the order of the rows, and drive_fit() decides between two passes, so that a backend
/// which labels every sample by itself gives the bits of a fit in memory. The notes are those of
/// the session in windows, or of the first block of the last pass, of one that summed where there
/// was one.
class StreamedSession final : public Session, public SessionNotes {
 public:
  /// `dataset` must outlive the session; two blocks of `block_rows` rows are held. `window_rows`:
  /// rows per window, of which two are held instead, for a backend that has passes in windows and
  /// integer sums; 0: no passes in windows.
  StreamedSession(std::shared_ptr<const LoadedBackend> backend, const Dataset& dataset,
                  const ParameterSet& parameters, std::int64_t block_rows,
                  std::int64_t window_rows = 0);

  Status fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept override;
  Status label(const LabelRequest& request, Observer* observer,
               LabelResult& result) noexcept override;
  Status partial(const PartialRequest& request, Observer* observer,
                 PartialResult& result) noexcept override;
  void* query(const char* interface_name) noexcept override;
  void release() noexcept override { delete this; }
  const char* notes() const noexcept override { return notes_.c_str(); }
  /// Throws the InputError or Cancelled that ended the last call of fit(), label(), partial() or
  /// for_each_block(), if one did: the source of rows threw it. A Status does not tell it from a
  /// backend's failure.
  void rethrow_failure() const;
  /// Reads rows block by block.
  void for_each_block(RowRange rows, const BlockBody& body) {
    keep_failure([&] { blocks_.for_each(rows, body); });
  }

 private:
  using Clock = std::chrono::steady_clock;

  void keep_failure(const std::function<void()>& body);
  /// The passes of a fit.
  class Passes;
  /// `before` is called with each block before it is labelled; it clears the labels of the block.
  void label_rows(const LabelRequest& request, Observer* observer, LabelResult& result,
                  const BlockBody& before = {});
  void partial_rows(const PartialRequest& request, Observer* observer, PartialResult& result,
                    const BlockBody& before = {});

  /// Calls `body` with the backend's session on each block of `rows`. Throws StatusError for a
  /// block that cannot be opened, and once the observer asks to stop.
  void for_each_session(RowRange rows, Observer* observer, const StreamedSeeding::Body& body);

  std::shared_ptr<const LoadedBackend> backend_;
  const Dataset& dataset_;
  ParameterSet parameters_;
  SumPlan plan_;
  RowBlocks blocks_;
  StreamedSeeding seeding_;
  std::string notes_;
  std::optional<StreamedPasses> passes_;  // none without windows
  std::exception_ptr failure_;            ///< of the source of rows, in the last call; null: none
};

}  // namespace lloyd
