// BorrowedSeeding: seeds a fit with the kernels of another backend.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <lloyd/fit.hpp>

#include "options/context.hpp"

namespace lloyd::apps {

/// In multiplications (seeding_work()). In smaller seedings, the search for backends would take
/// longer than it saves.
inline constexpr double kMinBorrowedSeedingWork = 0x1p30;

/// Seeds in a separate process, so that a failure of the other backend's plugin does not affect the
/// process of the fit. The result of the fit does not change either: by contract all backends
/// choose the same samples.
class BorrowedSeeding {
 public:
  /// `context` and `dataset` must outlive this object. `spare_bytes`: host memory available to the
  /// process and, unless the data is mapped from a file, to a copy of the data.
  BorrowedSeeding(const Context& context, const Dataset& dataset, std::int64_t spare_bytes)
      : context_(context), dataset_(dataset), spare_bytes_(spare_bytes) {}

  /// A function for fit() with these options. Each call seeds one restart, in a process of its own.
  /// It returns none if the seeding is small, the data set is not in memory, memory does not
  /// suffice, or no available backend other than `chosen` offers kernels that work. The function
  /// must not outlive this object or `chosen`.
  StartFunction starts(const LoadedBackend& chosen, const FitOptions& options,
                       ProgressFunction progress);

 private:
  GivenStart seed(const LoadedBackend& chosen, const FitOptions& one_restart, std::int64_t restart,
                  const ProgressFunction& progress);
  bool is_worthwhile(const FitOptions& one_restart) const;

  const Context& context_;
  const Dataset& dataset_;
  std::int64_t spare_bytes_;
  bool searched_ = false;
  /// Other backends that may offer kernels; those that do not are removed.
  std::vector<std::shared_ptr<const LoadedBackend>> backends_;
};

}  // namespace lloyd::apps
