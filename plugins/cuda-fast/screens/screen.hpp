// The screen: scores of samples and centroids on tensor cores, reduced to the two lowest.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda-fast/common/screen_shape.hpp"
#include "cuda-fast/conversions/sample_fragments.hpp"
#include "cuda-fast/decisions/decisions.hpp"
#include "cuda/device/device_limits.hpp"

namespace lloyd_cuda_fast {

/// The arithmetic of the screen.
enum class ScreenPath {
  wgmma,   ///< sm_90: asynchronous matrix instructions of a warpgroup
  mma,     ///< from sm_80 on: matrix instructions of a warp
  direct,  ///< float32 on the ordinary cores: direct_screen.hpp
};

/// Arguments of a screen. Pointers are device memory.
struct Screen {
  ScreenShape shape;
  const uint4* image = nullptr;  ///< ConvertedCentroids::image()
  Fragments fragments;
  lloyd::RowRange rows;  ///< rows of the slab
  std::int64_t clusters = 0;
  const std::int32_t* halt = nullptr;
};

/// First row of the tiles that cover a slab; a multiple of kTileRows rows after the fragments'
/// first row. Summaries begin with it.
LLOYD_HOST_DEVICE inline std::int64_t first_tile_row(const Screen& screen) {
  const std::int64_t offset = screen.rows.begin - screen.fragments.first_row;
  return screen.fragments.first_row + offset / kTileRows * kTileRows;
}

/// Enqueues the screening of a slab, which writes the summaries of every part.
void enqueue_screen(const Screen& screen, ScreenPath path, const Summaries& summaries,
                    const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream);

/// Enqueues a second screening, of the open samples of a slab, that lists their candidates. Adds
/// samples with more than kMaxCandidates to the overflow.
void enqueue_candidates(const Screen& screen, ScreenPath path, const DecisionArguments& decision,
                        const lloyd_cuda::DeviceLimits& limits);

}  // namespace lloyd_cuda_fast
