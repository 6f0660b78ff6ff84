// The kernel of both tensor-core screens. It keeps a part of the centroids in shared memory and
// streams tiles of samples past it; an epilogue consumes the scores. Warpgroups share only the
// centroids, so the loop over tiles has no barrier.
#pragma once

#include <cstdint>
#include <iterator>
#include <utility>

#include "cuda-fast/screens/screen.hpp"
#include "cuda-fast/screens/tensor_cores.cuh"
#include "cuda/device/check.hpp"
#include "cuda/device/shared_memory.hpp"
#include "cuda/passes/halt_flag.cuh"

namespace lloyd_cuda_fast {

/// Warpgroups of a block: as many as the registers of its threads allow. `resident_steps`: 0 if
/// fragments are streamed.
constexpr int warpgroups_for(bool wgmma, int resident_steps, int columns) {
  const int max_steps = columns == kTileColumns ? 7 : 9;
  return wgmma && resident_steps > 0 && resident_steps <= max_steps ? 4 : 3;
}

/// Streams the fragments of the sample tiles of a warpgroup, in stages of kImageSteps steps. The
/// fragments of a sample tile are loaded again for every tile of centroids. The last stage is
/// padded with zeros. `Ahead` stages are prefetched while one is used.
template <int Ahead, class Epilogue>
class FragmentStream {
 public:
  __device__ FragmentStream(Epilogue& epilogue, const ScreenShape& shape, std::int64_t first,
                            std::int64_t tiles, std::int64_t stride)
      : epilogue_(epilogue),
        steps_(shape.steps),
        columns_(shape.part_columns),
        tile_(first),
        tiles_(tiles),
        stride_(stride) {
    if (tile_ < tiles_) epilogue_.begin_loading(tile_);
#pragma unroll
    for (auto& stage : stages_) load(stage);
  }
  /// The next stage.
  __device__ __forceinline__ void next(uint4 (&fragments)[kImageSteps]) {
#pragma unroll
    for (int i = 0; i < kImageSteps; ++i) fragments[i] = stages_[0][i];
#pragma unroll
    for (int stage = 1; stage < Ahead; ++stage) {
#pragma unroll
      for (int i = 0; i < kImageSteps; ++i) stages_[stage - 1][i] = stages_[stage][i];
    }
    load(stages_[Ahead - 1]);
  }

 private:
  __device__ __forceinline__ void load(uint4 (&fragments)[kImageSteps]) {
    if (tile_ >= tiles_) return;
#pragma unroll
    for (int i = 0; i < kImageSteps; ++i) {
      fragments[i] = step_ + i < steps_ ? epilogue_.load(step_ + i) : uint4{0, 0, 0, 0};
    }
    step_ += kImageSteps;
    if (step_ < steps_) return;
    step_ = 0;
    column_ += Epilogue::kColumns;
    if (column_ < columns_) return;
    column_ = 0;
    tile_ += stride_;
    if (tile_ < tiles_) epilogue_.begin_loading(tile_);
  }

  Epilogue& epilogue_;
  int steps_;
  int columns_;
  std::int64_t tile_;  // of the stage that is loaded next
  std::int64_t tiles_;
  std::int64_t stride_;
  int column_ = 0;
  int step_ = 0;
  uint4 stages_[Ahead][kImageSteps] = {};
};

/// Scores the block's tiles of samples against its parts of the centroids. An epilogue has
/// - `kColumns`: ScreenShape::tile_columns;
/// - `tiles()`: the number of tiles;
/// - `begin_loading(tile)`, then `load(step)`: the fragments of a step of that tile, which may be
///   loaded while an earlier tile is scored;
/// - `begin_tile(tile)`;
/// - `score(part, columns, scores)`: consumes the accumulators of the kColumns centroids from
///   `columns` on, counted within the part;
/// - `end_tile(part)`.
/// It has no static shared memory: with that, a part might not fit.
/// `Steps`: the steps, whose fragments stay in registers; 0: they are streamed for every tile of
/// centroids.
template <bool Wgmma, int Steps, class Epilogue>
__global__ void __launch_bounds__(warpgroups_for(Wgmma, Steps, Epilogue::kColumns) * 128, 1)
    screen_kernel(Screen screen, Epilogue epilogue) {
  extern __shared__ __align__(1024) unsigned char centroids[];
  const bool halted = lloyd_cuda::read_halted(screen.halt);
  constexpr int kColumns = Epilogue::kColumns;
  constexpr int kWarpgroups = warpgroups_for(Wgmma, Steps, kColumns);
  const ScreenShape& shape = screen.shape;
  const int warpgroup = static_cast<int>(threadIdx.x) / 128;
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(centroids));
  const auto section_bytes = static_cast<std::uint32_t>(shape.part_columns) * 128;
  const std::int64_t tiles = epilogue.tiles();
  // Consecutive tiles go to different blocks: with few tiles, every block of a part gets one before
  // any of them gets a second one.
  const std::int64_t block = static_cast<int>(blockIdx.x) / shape.parts;
  const std::int64_t first = std::int64_t{warpgroup} * shape.blocks_per_part + block;
  const std::int64_t stride = std::int64_t{shape.blocks_per_part} * kWarpgroups;
  // Without tiles for the first warpgroup there are none for the others.
  const bool is_idle = block >= tiles;
  for (int part = static_cast<int>(blockIdx.x) % shape.parts; part < shape.parts && !is_idle;
       part += static_cast<int>(gridDim.x)) {
    const std::int64_t values = shape.part_bytes() / static_cast<std::int64_t>(sizeof(uint4));
    __syncthreads();
    for (std::int64_t i = threadIdx.x; i < values; i += kWarpgroups * 128) {
      reinterpret_cast<uint4*>(centroids)[i] = screen.image[part * values + i];
    }
    if constexpr (Wgmma) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    }
    if (__syncthreads_or(halted) != 0) return;
    Accumulators<kColumns> scores;
    const auto centroid_tile = [&](int columns) {
      return CentroidTile{address + static_cast<std::uint32_t>(columns) * 128, section_bytes};
    };
    if constexpr (Steps > 0) {
      // With few steps, two tiles are being loaded while one is scored.
      constexpr int kAhead = Steps <= 3 ? 2 : 1;
      uint4 fragments[kAhead][Steps];
      const auto load = [&](uint4(&to)[Steps], std::int64_t tile) {
        if (tile >= tiles) return;
        epilogue.begin_loading(tile);
#pragma unroll
        for (int step = 0; step < Steps; ++step) to[step] = epilogue.load(step);
      };
#pragma unroll
      for (int i = 0; i < kAhead; ++i) load(fragments[i], first + i * stride);
      for (std::int64_t tile = first; tile < tiles; tile += stride) {
        epilogue.begin_tile(tile);
#pragma unroll 1
        for (int columns = 0; columns < shape.part_columns; columns += kColumns) {
          multiply_steps<Wgmma>(scores, fragments[0], centroid_tile(columns), 0);
          // The fragments are no longer needed: others arrive during the epilogue.
          if (columns + kColumns >= shape.part_columns) {
#pragma unroll
            for (int i = 1; i < kAhead; ++i) {
#pragma unroll
              for (int step = 0; step < Steps; ++step) fragments[i - 1][step] = fragments[i][step];
            }
            load(fragments[kAhead - 1], tile + kAhead * stride);
          }
          epilogue.score(part, columns, scores);
        }
        epilogue.end_tile(part);
      }
    } else {
      // Narrow tiles have half as many accumulators, so a second stage fits into registers.
      FragmentStream<kColumns == kTileColumns ? 1 : 2, Epilogue> stream(epilogue, shape, first,
                                                                        tiles, stride);
      for (std::int64_t tile = first; tile < tiles; tile += stride) {
        epilogue.begin_tile(tile);
#pragma unroll 1
        for (int columns = 0; columns < shape.part_columns; columns += kColumns) {
#pragma unroll 1
          for (int step = 0; step < shape.steps; step += kImageSteps) {
            uint4 fragments[kImageSteps];
            stream.next(fragments);
            multiply_steps<Wgmma>(scores, fragments, centroid_tile(columns), step);
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
  kernel<<<static_cast<unsigned>(screen.shape.blocks(limits.multiprocessors)),
           warpgroups_for(Wgmma, Steps, Epilogue::kColumns) * 128, static_cast<std::size_t>(bytes),
           stream>>>(screen, epilogue);
  lloyd_cuda::check_launch("screen_kernel");
}

// Calls the kernel for the steps of the shape: resident, or streamed.
template <bool Wgmma, class Epilogue, std::size_t... Index>
void launch_for_steps(const Screen& screen, const Epilogue& epilogue,
                      const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream,
                      std::index_sequence<Index...>) {
  const auto launch_if = [&]<int Steps>() {
    if constexpr (Steps > max_resident_steps(Epilogue::kColumns)) {
      return false;
    } else {
      if (screen.shape.steps != Steps) return false;
      launch_screen<Wgmma, Steps>(screen, epilogue, limits, stream);
      return true;
    }
  };
  const bool launched = (launch_if.template operator()<kResidentSteps[Index]>() || ...);
  if (!launched) launch_screen<Wgmma, 0>(screen, epilogue, limits, stream);
}

template <class Epilogue>
void launch_on_path(const Screen& screen, ScreenPath path, const Epilogue& epilogue,
                    const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream) {
  using Indices = std::make_index_sequence<std::size(kResidentSteps)>;
  if (path == ScreenPath::wgmma) {
    launch_for_steps<true>(screen, epilogue, limits, stream, Indices{});
  } else {
    launch_for_steps<false>(screen, epilogue, limits, stream, Indices{});
  }
}

// Calls body.operator()<Columns>() with the columns of a tile.
template <class Body>
void with_tile_columns(const ScreenShape& shape, const Body& body) {
  if (shape.tile_columns == kTileColumns) {
    body.template operator()<kTileColumns>();
  } else {
    body.template operator()<kNarrowTileColumns>();
  }
}

}  // namespace lloyd_cuda_fast
