#include "machine/ceilings/ceilings.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

#include "machine/ceilings/fma_kernels.hpp"
#include "machine/ceilings/stopwatch_team.hpp"
#include "machine/processors/affinity.hpp"
#include "machine/processors/caches.hpp"
#include "machine/system/cgroup.hpp"
#include "machine/system/memory.hpp"

namespace lloyd::machine {
namespace {

constexpr double kSecondsEach = 0.12;

// Prevents the compiler from eliminating the computation of `value`.
template <class Value>
void consume(Value& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

template <class Real>
double fma_gflops(const FmaKernel<Real>& kernel, const std::vector<int>& processors) {
  constexpr std::int64_t kRounds = 1'000'000;  // about a millisecond
  const double seconds = least_seconds(processors, kSecondsEach, [&](std::size_t, std::int64_t) {
    // The sums converge to addend / (1 - factor) = 1: no overflow, no denormals.
    Real result = kernel.run(kRounds, Real{0.9375}, Real{0.0625});
    consume(result);
  });
  const auto operations = static_cast<double>(kRounds * kernel.operations_per_round) *
                          static_cast<double>(processors.size());
  return 1e-9 * operations / seconds;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// A memory slice for each thread, in kParts parts that successive runs use round-robin. Runs are
// short; a part has left the caches before it is used again.
class Slices {
 public:
  static constexpr std::size_t kParts = 4;

  Slices(std::int64_t bytes, std::size_t threads)
      : part_(static_cast<std::size_t>(bytes) / sizeof(double) / threads / kParts / kStep * kStep) {
    constexpr std::size_t kHugePage = std::size_t{1} << 21;
    const std::size_t size =
        (kParts * part_ * sizeof(double) + kHugePage - 1) / kHugePage * kHugePage;
    for (std::size_t t = 0; t < threads; ++t) {
      memory_.emplace_back(static_cast<double*>(std::aligned_alloc(kHugePage, size)));
      if (memory_.back() == nullptr) throw std::bad_alloc();
      // Huge pages reduce TLB misses; if they are refused, the rates are those of small pages.
      static_cast<void>(madvise(memory_.back().get(), size, MADV_HUGEPAGE));
    }
  }

  /// First touch of a thread's slice, for NUMA placement. Call it on that thread.
  void touch(std::size_t thread) const { std::fill_n(memory_[thread].get(), kParts * part_, 1.0); }
  std::span<double> part(std::size_t thread, std::int64_t run) const {
    const std::size_t index = static_cast<std::size_t>(run) % kParts;
    return {memory_[thread].get() + index * part_, part_};
  }
  /// Bytes accessed by all threads together in one run.
  double bytes_per_run() const {
    return static_cast<double>(part_ * sizeof(double)) * static_cast<double>(memory_.size());
  }

 private:
  // Multiple of all strides of the kernels: no remainders.
  static constexpr std::size_t kStep = 3 * 64;
  std::size_t part_;  // values
  std::vector<std::unique_ptr<double, Free>> memory_;
};

// Sum of all words. Reads several streams, as the hardware prefetcher does not saturate the memory
// with one.
std::uint64_t read_all(std::span<const double> values) {
  typedef std::uint64_t Words __attribute__((vector_size(16), may_alias));
  constexpr std::size_t kStreams = 4;
  const auto* words = reinterpret_cast<const Words*>(values.data());
  const std::size_t length = values.size() / 2 / kStreams;
  Words sums[kStreams][2] = {};
  for (std::size_t i = 0; i < length; i += 2) {
    for (std::size_t s = 0; s < kStreams; ++s) {
      sums[s][0] += words[s * length + i];
      sums[s][1] += words[s * length + i + 1];
    }
  }
  Words sum = {};
  for (const auto& stream : sums) sum += stream[0] + stream[1];
  return sum[0] + sum[1];
}

void triad(std::span<double> values) {
  const std::size_t third = values.size() / 3;
  double* __restrict a = values.data();
  const double* __restrict b = a + third;
  const double* __restrict c = b + third;
  for (std::size_t i = 0; i < third; ++i) a[i] = b[i] + 3.0 * c[i];
}

void memory_rates(std::int64_t bytes, const std::vector<int>& processors, double& read_gbs,
                  double& triad_gbs) {
  const Slices slices(bytes, processors.size());
  const auto touch = [&slices](std::size_t thread) { slices.touch(thread); };
  const auto read = [&slices](std::size_t thread, std::int64_t run) {
    std::uint64_t sum = read_all(slices.part(thread, run));
    consume(sum);
  };
  read_gbs = 1e-9 * slices.bytes_per_run() / least_seconds(processors, kSecondsEach, read, touch);
  const auto add = [&slices](std::size_t thread, std::int64_t run) {
    const std::span<double> part = slices.part(thread, run);
    triad(part);
    consume(part.front());
  };
  triad_gbs = 1e-9 * slices.bytes_per_run() / least_seconds(processors, kSecondsEach, add);
}

// Four times the caches, so that little of the previous pass is still cached.
std::int64_t buffer_size(std::int64_t cache_bytes, std::int64_t available_bytes) {
  constexpr std::int64_t kMin = std::int64_t{256} << 20;
  constexpr std::int64_t kMax = std::int64_t{1} << 30;
  const std::int64_t wanted = std::clamp(4 * cache_bytes, kMin, kMax);
  return available_bytes > 0 ? std::min(wanted, available_bytes / 4) : wanted;
}

}  // namespace

Ceilings measure_ceilings(const std::vector<int>& processors, std::int64_t cache_bytes,
                          std::int64_t available_bytes) {
  const std::vector<int> first(processors.begin(), processors.begin() + 1);
  const FmaKernels kernels = best_fma_kernels();
  Ceilings ceilings;
  ceilings.instruction_set = kernels.instruction_set;
  ceilings.threads = static_cast<std::int64_t>(processors.size());
  ceilings.float32_gflops.one_thread = fma_gflops(kernels.float32, first);
  ceilings.float64_gflops.one_thread = fma_gflops(kernels.float64, first);
  ceilings.float32_gflops.all_threads = fma_gflops(kernels.float32, processors);
  ceilings.float64_gflops.all_threads = fma_gflops(kernels.float64, processors);
  ceilings.buffer_bytes = buffer_size(cache_bytes, available_bytes);
  memory_rates(ceilings.buffer_bytes, first, ceilings.read_gbs.one_thread,
               ceilings.triad_gbs.one_thread);
  memory_rates(ceilings.buffer_bytes, processors, ceilings.read_gbs.all_threads,
               ceilings.triad_gbs.all_threads);
  return ceilings;
}

Ceilings measure_ceilings() {
  const CgroupLimits limits = read_cgroup_limits();
  const Memory memory = read_memory();
  return measure_ceilings(processors_within_quota(processors_at_start(), limits.cpus),
                          last_level_bytes(read_caches()),
                          std::min(memory.available, usable_memory(memory, limits)));
}

std::vector<int> processors_within_quota(std::vector<int> allowed, double cpus) {
  if (cpus > 0 && std::ceil(cpus) < static_cast<double>(allowed.size())) {
    allowed.resize(static_cast<std::size_t>(std::ceil(cpus)));
  }
  return allowed;
}

}  // namespace lloyd::machine
