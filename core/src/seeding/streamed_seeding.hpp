// StreamedSeeding: seeding kernels for data that is not in memory.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>
#include <lloyd/plugin/sdk/machine/usable_processors.hpp>
#include <lloyd/plugin/sdk/thread_team.hpp>

namespace lloyd {

/// Passes over the blocks of a StreamedSession, using the seeding kernels of each block's session,
/// or the core's own if it has none.
class StreamedSeeding final : public SeedingKernels {
 public:
  /// Receives a backend's session on a block of rows, and the values of the block.
  using Body = std::function<void(RowRange rows, Session& session, const void* data)>;
  /// Calls a body with each block.
  using ForEachSession = std::function<void(Observer* observer, const Body& body)>;

  /// `dataset` must outlive the kernels.
  StreamedSeeding(const Dataset& dataset, ForEachSession for_each_session)
      : dataset_(dataset), for_each_session_(std::move(for_each_session)) {}

  Status nearest(const NearestRequest& request, Observer* observer) noexcept override;
  Status gains(const GainsRequest& request, Observer* observer) noexcept override;

 private:
  Matrix block_matrix(RowRange rows, const void* data) const;

  const Dataset& dataset_;
  ForEachSession for_each_session_;
  /// The core's threads, for all blocks and passes.
  std::shared_ptr<ThreadTeam> team_ = std::make_shared<ThreadTeam>(usable_processors());
};

}  // namespace lloyd
