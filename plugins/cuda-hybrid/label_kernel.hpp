// The kernel of cuda-hybrid.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>

#include "cuda-hybrid/centroid_groups.hpp"
#include "cuda/passes/samples.hpp"

namespace lloyd_cuda_hybrid {

/// Arguments of labelling a chunk. Pointers are device memory. Distances are computed in Real.
template <class T, class Real>
struct LabelTask {
  lloyd::RowRange rows;                        ///< rows of the chunk; not empty
  lloyd_cuda::Samples<T> samples;              ///< the samples of these rows
  const GroupFeature<Real>* groups = nullptr;  ///< group_features(clusters, d) entries
  std::int64_t clusters = 0;                   ///< k
  std::int32_t* labels = nullptr;              ///< rows.size(); output
  const std::int32_t* halt = nullptr;          ///< the kernel returns once it is not 0
};

/// Enqueues the kernel. Throws StatusError.
template <class T, class Real>
void enqueue_labelling(const LabelTask<T, Real>& task, int block_size, cudaStream_t stream);

}  // namespace lloyd_cuda_hybrid
