// Memory of LloydLoop's workers: a worker has none before its first block.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/sdk/lloyd_loop.hpp>
#include <lloyd/plugin/sdk/step.hpp>

namespace lloyd {
namespace {

constexpr std::int64_t kSamples = 1024;
constexpr std::int64_t kFeatures = 256;
constexpr int kWorkers = 64;
// 64-bit limbs and 128-bit totals.
constexpr std::int64_t kBytesPerWorker = 24 * kSamples * kFeatures;

/// Gives all samples the label 0. Its blocks go to the first `used` of its workers.
struct ManyWorkers : StepBase {
  using value_type = double;

  int workers() const { return kWorkers; }
  void begin_pass(const double*, std::int64_t, const StepPassOptions&) {}
  std::int64_t assign(RowRange block, std::int32_t* labels) const {
    std::fill_n(labels, block.size(), 0);
    return block.size();
  }
  template <class Body>
  void for_each_block(RowRange rows, Body&& body) const {
    const std::int64_t size = rows.size() / used;
    for (int worker = 0; worker < used; ++worker) {
      body(worker, RowRange{rows.begin + worker * size, rows.begin + (worker + 1) * size});
    }
  }

  int used = 1;
};
static_assert(Step<ManyWorkers>);

std::int64_t address_space() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

// Runs a fit that `used` workers take part in, with memory for a quarter of all workers. Ends the
// process with status 0, or 7 if the fit throws std::bad_alloc.
[[noreturn]] void fit_in_little_memory(int used) {
  const std::vector<double> values(kSamples * kFeatures, 1.0);
  const Dataset data("samples", Matrix::from_values(values, kSamples, kFeatures));
  const DatasetView view = data.view();
  std::vector<double> found(values.size());
  FitSpec spec;
  spec.clusters = kSamples;
  spec.initial_centroids = values.data();
  spec.max_iterations = 2;
  spec.empty_clusters = EmptyClusters::keep;
  FitResult result;
  result.centroids = found.data();
  ManyWorkers step;
  step.used = used;
  LloydLoop<ManyWorkers> loop(step, view);
  const auto limit = static_cast<rlim_t>(address_space() + kWorkers / 4 * kBytesPerWorker);
  const rlimit space{limit, limit};
  if (::setrlimit(RLIMIT_AS, &space) != 0) std::_Exit(1);
  try {
    loop.fit(spec, nullptr, result);
  } catch (const std::bad_alloc&) {
    std::_Exit(7);
  }
  std::_Exit(0);
}

TEST(LoopMemory, BelongsToWorkersWithBlocks) {
  EXPECT_EXIT(fit_in_little_memory(1), testing::ExitedWithCode(0), "");
}

TEST(LoopMemory, RunsOutWithAnException) {
  EXPECT_EXIT(fit_in_little_memory(kWorkers), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace lloyd
