// BorrowedSeeding: seeds a fit with the kernels of another backend.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <lloyd/fit.hpp>

#include "experiment/plan/initial_centroids.hpp"
#include "options/context.hpp"

namespace lloyd::apps {

/// Smaller seedings, in multiplications (seeding_work()), do not pay for a search for backends.
inline constexpr double kMinBorrowedSeedingWork = 0x1p30;

/// Seeds in a process of its own, so that a failure of that backend's plugin changes neither the
/// process of the fit nor its result: by contract all backends choose the same samples.
class BorrowedSeeding {
 public:
  /// `context` and `dataset` must outlive this object. `spare_bytes`: host memory that is left for
  /// the process and, unless the data is mapped from a file, a copy of the data.
  BorrowedSeeding(const Context& context, const Dataset& dataset, std::int64_t spare_bytes)
      : context_(context), dataset_(dataset), spare_bytes_(spare_bytes) {}

  /// A function for fit() with these options: the initial centroids of all restarts are chosen in
  /// its first call. It returns none if the seeding is small, the data set is not in memory, memory
  /// is short, or no other available backend than `chosen` offers kernels that work. It and
  /// `progress` must not outlive this object.
  StartFunction starts(const LoadedBackend& chosen, const FitOptions& options,
                       ProgressFunction progress);

 private:
  std::optional<experiment::Starts> seed(const LoadedBackend& chosen, const FitOptions& options,
                                         const ProgressFunction& progress);
  bool is_worthwhile(const FitOptions& options) const;

  const Context& context_;
  const Dataset& dataset_;
  std::int64_t spare_bytes_;
  bool searched_ = false;
  /// Other backends that may offer kernels; those that do not are removed.
  std::vector<std::shared_ptr<const LoadedBackend>> backends_;
};

}  // namespace lloyd::apps
