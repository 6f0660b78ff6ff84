// The direct screen: scores in float32 on the ordinary cores, for any sizes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda-fast/conversions/converted_centroids.hpp"
#include "cuda-fast/conversions/sample_fragments.hpp"
#include "cuda-fast/decisions/decisions.hpp"

namespace lloyd_cuda_fast {

/// Which samples of a slab are screened directly.
enum class DirectRows {
  all,
  overflow,  ///< DecisionArguments::overflow, of which float32 proves nearly all
};

/// Enqueues the direct screening of samples: stores proven labels, and lists the others as hard.
template <class T>
void enqueue_direct_screen(const DecisionArguments& decision, const lloyd_cuda::Samples<T>& samples,
                           DirectRows rows, const ConvertedCentroids& centroids,
                           const DeviceUnits& units, int multiprocessors);

}  // namespace lloyd_cuda_fast
