// Ceilings: measured upper limits of this processor's arithmetic and memory rates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lloyd::machine {

/// Rate of one thread, and total rate with one thread on each usable processor.
struct Rate {
  double one_thread = 0;
  double all_threads = 0;
};

struct Ceilings {
  /// The widest fused multiply-adds supported by the processor and this program: "AVX-512", "AVX2"
  /// or "NEON"; "SSE2" uses separate multiplications and additions.
  std::string instruction_set;
  std::int64_t threads = 0;  ///< number of threads for `all_threads`
  Rate float32_gflops;       ///< 1e9 multiplications plus additions per second, in registers
  Rate float64_gflops;
  Rate read_gbs;                  ///< 1e9 bytes per second read from memory
  Rate triad_gbs;                 ///< a[i] = b[i] + s*c[i], 24 bytes per element (McCalpin, STREAM)
  std::int64_t buffer_bytes = 0;  ///< size of the buffer of the memory rates
};

/// Takes about a second. Takes the best of short runs, to reduce the influence of other work on the
/// machine. `processors`: one thread is bound to each (a single thread is not bound). `cache_bytes`
/// and `available_bytes` (0: unknown) determine a buffer larger than the caches and within the
/// memory. Throws std::bad_alloc or std::system_error if memory or threads cannot be allocated.
Ceilings measure_ceilings(const std::vector<int>& processors, std::int64_t cache_bytes,
                          std::int64_t available_bytes);

/// Measures on the processors that the affinity mask and the control group's quota allow.
Ceilings measure_ceilings();

/// The first ceil(`cpus`) of the allowed processors. `cpus`: quota of the control group; 0: no
/// limit.
std::vector<int> processors_within_quota(std::vector<int> allowed, double cpus);

}  // namespace lloyd::machine
