// The end of an iteration on the device: the means, the shift, the decision whether to stop.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/fit.hpp>

#include "cuda/cluster_sums.hpp"

namespace lloyd_cuda {

/// Why the device stopped working on a fit; kernels return at once when it is not `none`.
enum Halt : std::int32_t {
  kHaltNone = 0,
  kHaltStopped = 1,    ///< a stop rule was met
  kHaltEmpty = 2,      ///< a cluster is empty, and the host has to finish the iteration
  kHaltCancelled = 3,  ///< the observer asked for it
};

/// The state of a fit in device memory.
struct LoopState {
  std::int64_t iterations;     ///< finished ones
  unsigned long long changed;  ///< labels changed, of the iteration under way
  std::int64_t last_changed;   ///< of the last finished iteration
  double shift;                ///< sum of squared shifts of the last finished iteration
  std::int32_t halt;           ///< a Halt
};

/// Low bits of the progress word that the device reports to the host, beside the iterations.
inline constexpr int kProgressHaltBits = 8;

/// An iteration's end. All pointers are device memory.
struct Finish {
  std::int64_t clusters = 0;                        ///< k
  std::int64_t features = 0;                        ///< d
  SumScale scale;                                   ///< of `totals`
  Totals totals;                                    ///< of this iteration
  Totals next_totals;                               ///< of the next one: set to zero
  const double* centroids = nullptr;                ///< k x d, of this iteration
  double* next_centroids = nullptr;                 ///< k x d, filled
  float* next_rounded = nullptr;                    ///< k x d, the same in float32, or null
  LoopState* state = nullptr;                       ///< updated
  volatile unsigned long long* progress = nullptr;  ///< mapped: iterations << 8 | halt
  bool halt_when_empty = false;  ///< whether an empty cluster is the host's to handle
  bool may_converge = false;     ///< lloyd::StopRule::converge
  bool shift_wanted = false;     ///< whether anybody looks at the shift
  double tolerance = 0;          ///< FitSpec::tolerance
  std::int64_t max_iterations = 0;
};

/// Enqueues the means: next centroids, and the next totals zeroed. Clusters without samples keep
/// their centroid.
void enqueue_means(const Finish& finish, cudaStream_t stream);

/// Enqueues the decision: what becomes of the fit after this iteration, into `state` and
/// `progress`.
void enqueue_decision(const Finish& finish, cudaStream_t stream);

/// Enqueues the conversion of `count` values to float32.
void enqueue_rounding(const double* values, float* rounded, std::int64_t count,
                      cudaStream_t stream);

}  // namespace lloyd_cuda
