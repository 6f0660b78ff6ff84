// DistributedSession: one fit by several ranks, each with a part of the rows.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/internal/ranks.hpp>
#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

#include "dataset/row_blocks.hpp"
#include "session/session_pointer.hpp"

namespace lloyd {

/// The session of one rank on a part of a data set; see Dataset::part(). fit() and label() are
/// collective. Every rank runs drive_fit() over passes that return the same values on all ranks, so
/// that all ranks take the same decisions.
///
/// A pass labels the rows of the rank and sums, as 64-bit limbs without carries, how the sums and
/// counts changed. One all-reduce per iteration adds up these limbs and tells every rank whether
/// another one failed or stopped. Integer sums do not depend on how rows are spread, and
/// compensated sums are passed from rank to rank in row order: centroids, counts, inertia and
/// iterations have the bits of one process if the backend labels every sample by itself.
///
/// The local session may be a StreamedSession, which reads the rows of the rank in blocks in every
/// pass. Its fit() is not used: drive_fit() runs in this session.
///
/// Arrays of n entries (labels, squared distances) are those of this rank's rows. If a rank fails,
/// all return its status with "rank N on HOST: " in front. If an observer stops one rank, all stop
/// after the same iteration.
class DistributedSession final : public Session {
 public:
  /// Collective. `dataset` is a part that must outlive the session. Owns `local`, a session on this
  /// rank's rows; null if the rank has none. `read_blocks` reads the rows of a data set that is not
  /// in memory; empty if it is. Throws StatusError.
  DistributedSession(const Dataset& dataset, Session* local, ReadBlocks read_blocks = {});

  Status fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept override;
  Status label(const LabelRequest& request, Observer* observer,
               LabelResult& result) noexcept override;
  /// Returns `unsupported`.
  Status partial(const PartialRequest& request, Observer* observer,
                 PartialResult& result) noexcept override;
  /// The interfaces of the local session that concern its own rows: seeding kernels and notes.
  void* query(const char* interface_name) noexcept override;
  void release() noexcept override { delete this; }

 private:
  /// Passes requests to stop on to all ranks.
  class RankObserver;
  /// The passes of a fit.
  class Passes;
  /// Runs collective work; if this rank alone fails, the others do not wait for it.
  template <class Body>
  Status run(const Body& body) noexcept;
  void check_same_request(const FitSpec& spec) const;
  /// Calls `body` with blocks of these rows of this rank, whose stride is that of the data set.
  void read_rows(RowRange rows, const BlockBody& body) const;

  const Dataset& dataset_;
  SessionPointer local_;
  Ranks ranks_;
  std::vector<std::int64_t> first_rows_;  ///< per rank, and the total
  SumPlan plan_;
  ReadBlocks read_blocks_;
};

}  // namespace lloyd
