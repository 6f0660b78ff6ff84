// The kernel of cuda-hybrid.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/dataset_view.hpp>

#include "cuda-hybrid/centroid_groups.hpp"
#include "cuda/samples.hpp"

namespace lloyd_cuda_hybrid {

/// The labelling of a chunk. Pointers are device memory. Distances are computed in Real.
template <class T, class Real>
struct LabelTask {
  lloyd::RowRange rows;                        ///< of the data set; not empty
  lloyd_cuda::Samples<T> samples;              ///< hold these rows
  const GroupFeature<Real>* groups = nullptr;  ///< group_features(clusters, d) of them
  std::int64_t clusters = 0;                   ///< k
  std::int32_t* labels = nullptr;              ///< rows.size(): written
  const std::int32_t* halt = nullptr;          ///< the work is given up when it is not 0
};

/// Enqueues it. Throws StatusError.
template <class T, class Real>
void enqueue_labelling(const LabelTask<T, Real>& task, int block_size, cudaStream_t stream);

}  // namespace lloyd_cuda_hybrid
