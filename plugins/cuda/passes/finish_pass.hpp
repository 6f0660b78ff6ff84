// Ends an iteration on the device: means, centroid shift, stop decision.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/abi/requests.hpp>

#include "cuda/passes/cluster_sums.hpp"

namespace lloyd_cuda {

/// Why the device stopped a fit. Unless it is kHaltNone, kernels return immediately.
enum Halt : std::int32_t {
  kHaltNone = 0,
  kHaltStopped = 1,    ///< a stop rule was met
  kHaltEmpty = 2,      ///< a cluster is empty: the host has it relocated, or fails the fit
  kHaltCancelled = 3,  ///< the observer cancelled the fit
};

/// The state of a fit in device memory.
struct LoopState {
  std::int64_t iterations;     ///< finished iterations
  unsigned long long changed;  ///< labels changed in the current iteration
  std::int64_t last_changed;   ///< labels changed in the last finished iteration
  double shift;                ///< sum of squared shifts of the last finished iteration
  std::int64_t relocations;    ///< clusters moved by the last iteration with Finish::relocates
  std::int32_t halt;           ///< a Halt
  unsigned int arrived;        ///< blocks that have arrived at the end of a kernel
};

/// What the device reports of one iteration, in mapped host memory. The host clears it before it
/// enqueues the iteration.
struct IterationReport {
  std::int64_t iterations;  ///< finished, this one included; 0: it has not finished
  std::int64_t changed;     ///< labels that it changed
  double shift;             ///< LoopState::shift
};

/// Where the device reports iterations for an observer: arrays of kSlots slots in mapped host
/// memory. Iteration i (0, 1, ...) has slot i % kSlots.
struct ReportRing {
  static constexpr std::int64_t kSlots = 32;

  IterationReport* reports = nullptr;  ///< null: iterations are not reported
  /// k x d per slot: the next centroids; null: too large for pinned memory.
  double* centroids = nullptr;
  /// ExactSum::kChunks per slot: the inertia of the iteration, also if that halts because a cluster
  /// is empty; null: not observed.
  unsigned long long* inertia_slots = nullptr;
  /// Accumulator of the inertia in device memory; cleared once its value is in a slot.
  unsigned long long* inertia_sum = nullptr;

  bool operator==(const ReportRing&) const = default;
};

/// The device reports its progress to the host in one word: the number of finished iterations,
/// shifted left by kProgressHaltBits, and the Halt in the low bits.
inline constexpr int kProgressHaltBits = 8;

/// Arguments of the end of an iteration. All pointers are device pointers; `progress` and `ring`
/// lead to mapped host memory.
struct Finish {
  std::int64_t clusters = 0;  ///< k
  std::int64_t features = 0;  ///< d
  SumScale scale;             ///< of `totals`
  Totals totals;              ///< of this iteration
  Totals next_totals;         ///< of the next iteration, output; may be `totals` if these are kept
  const double* centroids = nullptr;                ///< k x d, of this iteration
  double* next_centroids = nullptr;                 ///< k x d, output
  float* next_rounded = nullptr;                    ///< k x d, output in float32, or null
  LoopState* state = nullptr;                       ///< input and output
  volatile unsigned long long* progress = nullptr;  ///< progress word, in mapped host memory
  ReportRing ring;                                  ///< output of enqueue_finish() alone
  bool keeps_totals = false;     ///< true: copy totals to next_totals; false: clear it
  bool halt_when_empty = false;  ///< true: halt the fit if a cluster is empty
  bool relocates = false;        ///< true: LoopState::relocations is of this iteration
  bool may_converge = false;     ///< lloyd::StopRule::converge
  bool shift_wanted = false;     ///< true: the shift is observed or a stop rule uses it
  double tolerance = 0;          ///< FitSpec::tolerance
  std::int64_t max_iterations = 0;

  bool operator==(const Finish&) const = default;
};

/// Enqueues the computation of the next centroids and totals. Clusters without samples keep their
/// centroid.
void enqueue_means(const Finish& finish, cudaStream_t stream);

/// Enqueues the decision whether the fit goes on after this iteration, and writes it to `state` and
/// `progress`.
void enqueue_decision(const Finish& finish, cudaStream_t stream);

/// Enqueues enqueue_means() and enqueue_decision() as one kernel.
void enqueue_finish(const Finish& finish, cudaStream_t stream);

/// Enqueues the conversion of `count` values to float32.
void enqueue_rounding(const double* values, float* rounded, std::int64_t count,
                      cudaStream_t stream);

}  // namespace lloyd_cuda
