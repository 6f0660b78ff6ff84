#include "seeding/borrowed_seeding.hpp"

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <lloyd/error.hpp>
#include <lloyd/memory_plan.hpp>

#include "experiment/plan/initial_centroids.hpp"
#include "experiment/trial/kernel_seeding.hpp"
#include "experiment/worker/seeding_worker.hpp"
#include "experiment/worker/shared_dataset.hpp"
#include "seeding/seeding_backends.hpp"
#include "supervision/interrupt.hpp"
#include "workers/worker_command.hpp"

namespace lloyd::apps {

namespace {

// None if the search fails.
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
  FitOptions one_restart = options;
  one_restart.restarts = 1;
  return [this, &chosen, one_restart, progress = std::move(progress)](std::int64_t restart) {
    return seed(chosen, one_restart, restart, progress);
  };
}

bool BorrowedSeeding::is_worthwhile(const FitOptions& one_restart) const {
  const std::int64_t n = dataset_.samples();
  const std::int64_t d = dataset_.features();
  if (!dataset_.in_memory()) return false;
  if (experiment::seeding_work(one_restart, n, d) < kMinBorrowedSeedingWork) return false;
  const bool mapped = dataset_.matrix().file != nullptr;
  const std::int64_t copy = mapped ? 0 : n * dataset_.matrix().stride * size_of(dataset_.dtype());
  return copy + kProgramBytes <= spare_bytes_;
}

GivenStart BorrowedSeeding::seed(const LoadedBackend& chosen, const FitOptions& one_restart,
                                 std::int64_t restart, const ProgressFunction& progress) {
  if (!is_worthwhile(one_restart)) return {};
  if (!std::exchange(searched_, true)) backends_ = other_backends(context_, chosen);
  if (backends_.empty()) return {};
  const std::vector<std::string> command = worker_command();
  const experiment::Isolation isolation;
  const double work =
      experiment::seeding_work(one_restart, dataset_.samples(), dataset_.features());
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
      if (const auto seeded =
              experiment::seed_in_worker(backend, shared, one_restart, process, restart)) {
        experiment::Starts starts = experiment::starts_at(*seeded, dataset_, one_restart);
        return {std::move(starts.centroids.front()), backend.name()};
      }
    } catch (const Cancelled&) {
      throw;
    } catch (const std::exception&) {  // the fit can do without this backend
      dataset_.check_unchanged();      // but not with a file that has changed
    }
    backends_.erase(backends_.begin());
  }
  return {};
}

}  // namespace lloyd::apps
