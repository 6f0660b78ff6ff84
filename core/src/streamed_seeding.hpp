// StreamedSeeding: seeding kernels over data that is not in memory.
#pragma once

#include <functional>
#include <utility>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/seeding_kernels.hpp>

namespace lloyd {

/// Goes through the blocks of a StreamedSession and uses the kernels of each block's session, or
/// the core's own where that offers none.
class StreamedSeeding final : public SeedingKernels {
 public:
  /// Takes a backend's session on a block of rows, and the block's values.
  using Body = std::function<void(RowRange rows, Session& session, const void* data)>;
  /// Calls a body with every block.
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
};

}  // namespace lloyd
