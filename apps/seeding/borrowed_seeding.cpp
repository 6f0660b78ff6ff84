#include "seeding/borrowed_seeding.hpp"

#include <exception>
#include <string>
#include <utility>

#include <lloyd/error.hpp>
#include <lloyd/memory_plan.hpp>

#include "experiment/trial/kernel_seeding.hpp"
#include "experiment/worker/seeding_worker.hpp"
#include "experiment/worker/shared_dataset.hpp"
#include "seeding/seeding_backends.hpp"
#include "supervision/interrupt.hpp"
#include "workers/worker_command.hpp"

namespace lloyd::apps {

using experiment::Starts;

namespace {

// None if the search fails, for example because two plugins have the same name.
std::vector<std::shared_ptr<const LoadedBackend>> other_backends(const Context& context,
                                                                 const LoadedBackend& chosen) {
  try {
    auto backends = available_seeding_backends(context);
    std::erase_if(backends, [&](const auto& backend) { return backend->name() == chosen.name(); });
    return backends;
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

StartFunction BorrowedSeeding::starts(const LoadedBackend& chosen, const FitOptions& options,
                                      ProgressFunction progress) {
  return [this, &chosen, options, progress = std::move(progress),
          starts = std::optional<Starts>()](std::int64_t restart) mutable {
    if (restart == 0) starts = seed(chosen, options, progress);
    if (!starts) return GivenStart{};
    return GivenStart{starts->centroids[static_cast<std::size_t>(restart)], starts->backend};
  };
}

bool BorrowedSeeding::is_worthwhile(const FitOptions& options) const {
  const std::int64_t n = dataset_.samples();
  const std::int64_t d = dataset_.features();
  if (!dataset_.in_memory()) return false;
  if (experiment::seeding_work(options, n, d) < kMinBorrowedSeedingWork) return false;
  const bool mapped = dataset_.matrix().file != nullptr;
  const std::int64_t copy = mapped ? 0 : n * dataset_.matrix().stride * size_of(dataset_.dtype());
  return copy + kProgramBytes <= spare_bytes_;
}

std::optional<Starts> BorrowedSeeding::seed(const LoadedBackend& chosen, const FitOptions& options,
                                            const ProgressFunction& progress) {
  if (!is_worthwhile(options)) return std::nullopt;
  if (!std::exchange(searched_, true)) backends_ = other_backends(context_, chosen);
  if (backends_.empty()) return std::nullopt;
  const std::vector<std::string> command = worker_command();
  const experiment::Isolation isolation;
  const double work = experiment::seeding_work(options, dataset_.samples(), dataset_.features());
  const experiment::SeedingProcess process{
      command,     isolation, context_.plugin_limit(), experiment::seeding_limit(work),
      interrupted, progress};
  experiment::SharedDataset shared;
  while (!backends_.empty()) {
    const LoadedBackend& backend = *backends_.front();
    try {
      if (shared.dataset == nullptr) {
        // A pointer that owns nothing: the data set must stay in place for the fit.
        shared = experiment::share_dataset(
            std::shared_ptr<const Dataset>(std::shared_ptr<const Dataset>(), &dataset_));
      }
      if (const auto seeded = experiment::seed_in_worker(backend, shared, options, process)) {
        Starts starts = experiment::starts_at(*seeded, dataset_, options);
        starts.backend = backend.name();
        return starts;
      }
    } catch (const Cancelled&) {
      throw;
    } catch (const std::exception&) {  // the fit can do without this backend
      dataset_.check_unchanged();      // but not with a file that has changed
    }
    backends_.erase(backends_.begin());
  }
  return std::nullopt;
}

}  // namespace lloyd::apps
