// Ceilings: what no k-means on this processor can exceed, measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lloyd::machine {

/// A rate that one thread reaches, and one thread on each usable processor together.
struct Rate {
  double one_thread = 0;
  double all_threads = 0;
};

struct Ceilings {
  /// Of the widest fused multiply-adds that processor and program know: "AVX-512", "AVX2", "NEON";
  /// "SSE2" multiplies and adds apart.
  std::string instruction_set;
  std::int64_t threads = 0;  ///< of `all_threads`
  Rate float32_gflops;       ///< 1e9 multiplications and additions a second, on registers
  Rate float64_gflops;
  Rate read_gbs;                  ///< 1e9 bytes a second read from memory
  Rate triad_gbs;                 ///< a[i] = b[i] + s*c[i]: 24 bytes an element (McCalpin, STREAM)
  std::int64_t buffer_bytes = 0;  ///< that the memory rates ran over
};

/// Measures for about a second: short runs, of which the best counts, so that other work on the
/// machine disturbs little. `processors` are those the threads are bound to, one each;
/// `cache_bytes` and `available_bytes` (0: not known) choose a buffer beyond the caches and within
/// the memory. Throws std::bad_alloc or std::system_error where memory or threads are refused.
Ceilings measure_ceilings(const std::vector<int>& processors, std::int64_t cache_bytes,
                          std::int64_t available_bytes);

/// The same for this machine: on the processors that the affinity mask and the control group's
/// quota allow.
Ceilings measure_ceilings();

/// Of the processors that the mask allows, as many as a quota of `cpus` (0: none) keeps busy.
std::vector<int> usable_processors(std::vector<int> allowed, double cpus);

}  // namespace lloyd::machine
