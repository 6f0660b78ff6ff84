// What a CUDA backend writes: a Step, which assigns samples and adds up clusters on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>

#include <lloyd/plugin/dataset_view.hpp>

#include "cuda/cluster_sums.hpp"
#include "cuda/phases.hpp"
#include "cuda/samples.hpp"

namespace lloyd_cuda {

/// One assignment of a range of rows. Pointers are device memory.
struct Pass {
  lloyd::RowRange rows;               ///< of the data set
  std::int64_t clusters = 0;          ///< k
  const double* centroids = nullptr;  ///< k x d
  const float* rounded = nullptr;     ///< k x d, the same in float32; null for float64 samples
  /// Centroids of the iteration before (k x d) where this one is its continuation, else null.
  const double* former_centroids = nullptr;
  bool in_float64 = false;         ///< whether float32 is not good enough for these distances
  std::int32_t* labels = nullptr;  ///< n; in: the former ones (-1: none), out: the new ones
  /// Adds how many labels changed. Null: neither changes nor labels are wanted, and what is in
  /// `labels` need not be kept up to date.
  unsigned long long* changed = nullptr;
  Totals totals;                       ///< to be added to; null for an assignment alone
  SumScale scale;                      ///< how values are turned into integers for `totals`
  const std::int32_t* halt = nullptr;  ///< kernels return at once when it is not 0
  cudaStream_t stream = nullptr;       ///< all work goes here
  Phases* phases = nullptr;            ///< to be told of the phases; null where they are not wanted

  LLOYD_CUDA_BOTH bool accumulates() const { return totals.sums != nullptr; }
};

/// The assignment and the sums of a backend, over its resident samples. Serves one thread.
template <class T>
class Step {
 public:
  virtual ~Step() = default;

  /// Tells whether what is being enqueued shall be given up; kernels then return at once. For steps
  /// that wait for the device while they enqueue a pass.
  using CancelRequested = std::function<bool()>;
  /// Called before the passes of a fit or of one request; `clusters` may differ from last time.
  /// `cancel_requested` is valid until the next call.
  virtual void prepare(std::int64_t clusters, const CancelRequested& cancel_requested) = 0;
  /// Enqueues one pass.
  virtual void assign(const Pass& pass) = 0;
  /// Distances evaluated since prepare() by a step that evaluates fewer than rows x k a pass; waits
  /// for the stream. Negative: rows x k.
  virtual std::int64_t distances() { return -1; }
  /// Calls body(part, samples) for parts that cover `rows`, in order; the samples of a part stay on
  /// the device until the work that the body enqueued on the stream is done.
  using Body = std::function<void(lloyd::RowRange part, const Samples<T>& samples)>;
  virtual void for_each_part(lloyd::RowRange rows, const Body& body) = 0;
  /// What was chosen from the sizes for the passes since prepare(), in a few words, for the record;
  /// may be empty. Does not touch the device.
  virtual std::string notes() const { return {}; }
};

}  // namespace lloyd_cuda
