// SlabSums: adds a slab's samples, or moves its changed ones, in the totals of their clusters.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda-fast/decisions/decisions.hpp"
#include "cuda/device/buffer.hpp"
#include "cuda/passes/pass.hpp"

namespace lloyd_cuda_fast {

/// Sums the rows of a slab, or only those whose label has changed. A counting sort by cluster comes
/// first, so that runs of samples are summed in registers, and each run takes one atomic addition
/// per feature. Sums are exact, so that their order does not matter.
class SlabSums {
 public:
  /// Words of the counters for k clusters.
  static std::int64_t counter_words(std::int64_t clusters);
  /// Allocates for slabs of up to `slab_rows` rows. `counters`: counter_words() words of device
  /// memory, aligned to 8 bytes, that the caller clears before each slab. Throws StatusError.
  void prepare(std::int64_t slab_rows, std::int64_t clusters, unsigned int* counters);

  /// The list that receives the changed samples of a slab.
  ChangedSamples changed() const;
  /// Enqueues the sums of all rows of the slab `pass.rows` (if `all`), or of the changed samples.
  template <class T>
  void enqueue(const lloyd_cuda::Pass& pass, const lloyd_cuda::Samples<T>& samples, bool all,
               int multiprocessors) const;

 private:
  std::int64_t clusters_ = 0;
  // The changed samples; the blocks that have counted; k: entries of each cluster, in two words.
  unsigned int* counters_ = nullptr;
  lloyd_cuda::DeviceBuffer<std::int32_t> rows_;
  lloyd_cuda::DeviceBuffer<std::int32_t> former_;
  lloyd_cuda::DeviceBuffer<unsigned int> sorted_;
  lloyd_cuda::DeviceBuffer<unsigned int> offsets_;  // k + 1: first position of each cluster
  lloyd_cuda::DeviceBuffer<unsigned int> cursors_;  // k: next position of each cluster
};

}  // namespace lloyd_cuda_fast
