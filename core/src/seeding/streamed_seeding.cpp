#include "seeding/streamed_seeding.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <lloyd/error.hpp>
#include <lloyd/plugin/sdk/guard.hpp>

#include "parallel/range_workers.hpp"
#include "seeding/matrix_samples.hpp"
#include "session/status_error.hpp"

namespace lloyd {
namespace {

SeedingKernels* kernels_of(Session& session) {
  return static_cast<SeedingKernels*>(session.query(kSeedingKernels));
}

// Calls `body` with workers that use the threads of the team and that the observer can cancel.
template <class Body>
void with_workers(const std::shared_ptr<ThreadTeam>& team, Observer* observer, const Body& body) {
  const StopFunction stop = [observer] {
    return observer != nullptr && observer->stop_requested();
  };
  try {
    body(RangeWorkers(team, stop));
  } catch (const Cancelled&) {
    throw_cancelled();
  }
}

}  // namespace

Matrix StreamedSeeding::block_matrix(RowRange rows, const void* data) const {
  const std::int64_t d = dataset_.features();
  return {nullptr, data, rows.size(), d, d, dataset_.dtype()};
}

Status StreamedSeeding::nearest(const NearestRequest& request, Observer* observer) noexcept {
  return guarded([&] {
    for_each_session_(observer, [&](RowRange rows, Session& session, const void* data) {
      NearestRequest part = request;
      part.squared_distances += rows.begin;
      if (part.nearest != nullptr) part.nearest += rows.begin;
      if (SeedingKernels* kernels = kernels_of(session)) {
        throw_if_error(kernels->nearest(part, observer));
        return;
      }
      const Matrix matrix = block_matrix(rows, data);
      const auto values = static_cast<std::size_t>(part.count * matrix.columns);
      with_workers(team_, observer, [&](const RangeWorkers& workers) {
        MatrixSamples(matrix, workers)
            .fold_nearest({part.centroids, values}, part.first_index, part.squared_distances,
                          part.nearest);
      });
    });
  });
}

Status StreamedSeeding::gains(const GainsRequest& request, Observer* observer) noexcept {
  return guarded([&] {
    std::fill_n(request.gains, request.count, 0);
    std::vector<std::int64_t> gains(static_cast<std::size_t>(request.count));
    for_each_session_(observer, [&](RowRange rows, Session& session, const void* data) {
      GainsRequest part = request;
      part.squared_distances += rows.begin;
      part.gains = gains.data();
      if (SeedingKernels* kernels = kernels_of(session)) {
        throw_if_error(kernels->gains(part, observer));
      } else {
        const Matrix matrix = block_matrix(rows, data);
        const auto values = static_cast<std::size_t>(part.count * matrix.columns);
        with_workers(team_, observer, [&](const RangeWorkers& workers) {
          MatrixSamples(matrix, workers)
              .rate({part.candidates, values}, part.squared_distances, part.scale, gains);
        });
      }
      for (std::size_t c = 0; c < gains.size(); ++c) request.gains[c] += gains[c];
    });
  });
}

}  // namespace lloyd
