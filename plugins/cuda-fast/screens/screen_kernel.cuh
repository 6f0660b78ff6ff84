// The kernel of both tensor-core screens. It keeps a part of the centroids in shared memory and
// streams tiles of samples past it; an epilogue consumes the scores. Warpgroups share only the
// centroids, so the loop over tiles has no barrier.
#pragma once

#include <cstdint>

#include "cuda-fast/screens/screen.hpp"
#include "cuda-fast/screens/tensor_cores.cuh"
#include "cuda/device/check.hpp"
#include "cuda/device/shared_memory.hpp"
#include "cuda/passes/halt_flag.cuh"

namespace lloyd_cuda_fast {

inline constexpr int kScreenThreads = kWarpgroups * 128;

/// Scores the block's tiles of samples against its parts of the centroids. An epilogue has
/// - `tiles()`: the number of tiles;
/// - `begin_loading(tile)`, then `load(step)`: the fragments of a step of that tile, which may be
///   loaded while an earlier tile is scored;
/// - `begin_tile(tile)`;
/// - `score(part, columns, scores)`: consumes the accumulators of the kTileColumns centroids from
///   `columns` on, counted within the part;
/// - `end_tile(part)`.
/// It has no static shared memory: with that, a part might not fit.
/// `Steps`: the steps, whose fragments stay in registers; 0: they are streamed for every tile of
/// centroids, and the number of steps is a multiple of kImageSteps.
template <bool Wgmma, int Steps, class Epilogue>
__global__ void __launch_bounds__(kScreenThreads, 1)
    screen_kernel(Screen screen, Epilogue epilogue) {
  extern __shared__ __align__(1024) unsigned char centroids[];
  if (lloyd_cuda::block_halted(screen.halt)) return;
  const ScreenShape& shape = screen.shape;
  const int warpgroup = static_cast<int>(threadIdx.x) / 128;
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(centroids));
  const auto section_bytes = static_cast<std::uint32_t>(shape.part_columns) * 128;
  const std::int64_t tiles = epilogue.tiles();
  const std::int64_t first =
      std::int64_t{static_cast<int>(blockIdx.x) / shape.parts} * kWarpgroups + warpgroup;
  const std::int64_t stride = std::int64_t{shape.blocks_per_part} * kWarpgroups;
  // Without tiles for the first warpgroup there are none for the others.
  const bool is_idle = first - warpgroup >= tiles;
  for (int part = static_cast<int>(blockIdx.x) % shape.parts; part < shape.parts && !is_idle;
       part += static_cast<int>(gridDim.x)) {
    const std::int64_t values = shape.part_bytes() / static_cast<std::int64_t>(sizeof(uint4));
    __syncthreads();
    for (std::int64_t i = threadIdx.x; i < values; i += kScreenThreads) {
      reinterpret_cast<uint4*>(centroids)[i] = screen.image[part * values + i];
    }
    if constexpr (Wgmma) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    }
    __syncthreads();
    Accumulators scores;
    if constexpr (Steps > 0) {
      uint4 fragments[Steps];
      const auto load = [&](std::int64_t tile) {
        epilogue.begin_loading(tile);
#pragma unroll
        for (int step = 0; step < Steps; ++step) fragments[step] = epilogue.load(step);
      };
      if (first < tiles) load(first);
      for (std::int64_t tile = first; tile < tiles; tile += stride) {
        epilogue.begin_tile(tile);
#pragma unroll 1
        for (int columns = 0; columns < shape.part_columns; columns += kTileColumns) {
          const CentroidTile centroid_tile{address + static_cast<std::uint32_t>(columns) * 128,
                                           section_bytes};
          multiply_steps<Wgmma>(scores, fragments, centroid_tile, 0);
          // The fragments are no longer needed: those of the next tile arrive during the epilogue.
          if (columns + kTileColumns >= shape.part_columns && tile + stride < tiles) {
            load(tile + stride);
          }
          epilogue.score(part, columns, scores);
        }
        epilogue.end_tile(part);
      }
    } else {
      for (std::int64_t tile = first; tile < tiles; tile += stride) {
        epilogue.begin_loading(tile);
        epilogue.begin_tile(tile);
#pragma unroll 1
        for (int columns = 0; columns < shape.part_columns; columns += kTileColumns) {
          const CentroidTile centroid_tile{address + static_cast<std::uint32_t>(columns) * 128,
                                           section_bytes};
          uint4 even[kImageSteps];
          uint4 odd[kImageSteps];
          const auto load = [&](uint4(&to)[kImageSteps], int step) {
            if (step >= shape.steps) return;
#pragma unroll
            for (int i = 0; i < kImageSteps; ++i) to[i] = epilogue.load(step + i);
          };
          load(even, 0);
          for (int step = 0; step < shape.steps; step += 2 * kImageSteps) {
            load(odd, step + kImageSteps);
            multiply_steps<Wgmma>(scores, even, centroid_tile, step);
            load(even, step + 2 * kImageSteps);
            if (step + kImageSteps < shape.steps) {
              multiply_steps<Wgmma>(scores, odd, centroid_tile, step + kImageSteps);
            }
          }
          epilogue.score(part, columns, scores);
        }
        epilogue.end_tile(part);
      }
    }
  }
}

template <bool Wgmma, int Steps, class Epilogue>
void launch_screen(const Screen& screen, const Epilogue& epilogue,
                   const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream) {
  const auto kernel = screen_kernel<Wgmma, Steps, Epilogue>;
  const std::int64_t bytes = screen.shape.part_bytes();
  lloyd_cuda::allow_shared_memory(kernel, bytes, limits.shared_bytes_per_block);
  kernel<<<static_cast<unsigned>(screen.shape.blocks(limits.multiprocessors)), kScreenThreads,
           static_cast<std::size_t>(bytes), stream>>>(screen, epilogue);
  lloyd_cuda::check_launch("screen_kernel");
}

template <bool Wgmma, class Epilogue>
void launch_for_steps(const Screen& screen, const Epilogue& epilogue,
                      const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream) {
  switch (screen.shape.steps) {
    case 2:
      return launch_screen<Wgmma, 2>(screen, epilogue, limits, stream);
    case 3:
      return launch_screen<Wgmma, 3>(screen, epilogue, limits, stream);
    case 5:
      return launch_screen<Wgmma, 5>(screen, epilogue, limits, stream);
    case 7:
      return launch_screen<Wgmma, 7>(screen, epilogue, limits, stream);
    case 9:
      return launch_screen<Wgmma, 9>(screen, epilogue, limits, stream);
    case kMaxResidentSteps:
      return launch_screen<Wgmma, kMaxResidentSteps>(screen, epilogue, limits, stream);
    default:
      return launch_screen<Wgmma, 0>(screen, epilogue, limits, stream);
  }
}

template <class Epilogue>
void launch_on_path(const Screen& screen, ScreenPath path, const Epilogue& epilogue,
                    const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream) {
  if (path == ScreenPath::wgmma) {
    launch_for_steps<true>(screen, epilogue, limits, stream);
  } else {
    launch_for_steps<false>(screen, epilogue, limits, stream);
  }
}

}  // namespace lloyd_cuda_fast
