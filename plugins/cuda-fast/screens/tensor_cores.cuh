// Products of sample fragments and a tile of centroids on tensor cores: by wgmma (sm_90a), or by
// mma.sync (from sm_80 on). Both have the same fragments and accumulators.
#pragma once

#include <cstdint>

#include "cuda-fast/common/screen_shape.hpp"

namespace lloyd_cuda_fast {

/// Accumulators of a thread for a tile of `Columns` centroids. Lane 4 g + t of warp w of the
/// warpgroup holds the scores of samples 16 w + g (r = 0) and 16 w + g + 8 (r = 1) of a tile: value
/// 4 b + 2 r + e is the score of centroid 8 b + 2 t + e.
template <int Columns>
using Accumulators = float[Columns / 2];

/// The centroids of a tile in shared memory: the image of a part from the first centroid of the
/// tile on. `address`: shared-memory address; `section_bytes`: from one block of kImageSteps steps
/// to the next. Within a block, a centroid has a row of 128 bytes, whose 16-byte chunk i is stored
/// at i ^ (row % 8): the 128-byte swizzle.
struct CentroidTile {
  std::uint32_t address;
  std::uint32_t section_bytes;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// One step of 64 samples and 128 centroids. `adds`: 0 overwrites the accumulators.
__device__ __forceinline__ void wgmma_step(Accumulators<128>& d, const uint4& a, std::uint64_t b,
                                           int adds) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, adds, 1, 1, 0;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "l"(b), "r"(adds));
}

// One step of 64 samples and 64 centroids.
__device__ __forceinline__ void wgmma_step(Accumulators<64>& d, const uint4& a, std::uint64_t b,
                                           int adds) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, adds, 1, 1, 0;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "l"(b), "r"(adds));
}

// The descriptor of a matrix in shared memory: K-major, swizzled by 128 bytes, groups of 8 rows
// 1024 bytes apart.
__device__ __forceinline__ std::uint64_t wgmma_descriptor(std::uint32_t address) {
  return static_cast<std::uint64_t>((address & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 |
         1ull << 62;
}

#endif

// Four 8x8 matrices of 16-bit values from shared memory; lane i passes the address of row i % 8 of
// matrix i / 8.
__device__ __forceinline__ uint4 load_matrices(std::uint32_t address) {
  uint4 m;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m.x), "=r"(m.y), "=r"(m.z), "=r"(m.w)
               : "r"(address));
  return m;
}

__device__ __forceinline__ void mma_step(float* d, const uint4& a, std::uint32_t b0,
                                         std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

// Keeps the compiler from moving accesses to the accumulators across this point: asynchronous
// instructions use them.
template <int N>
__device__ __forceinline__ void pin(float (&scores)[N]) {
#pragma unroll
  for (float& score : scores) asm volatile("" : "+f"(score)::"memory");
}

/// Computes `Count` steps from step `first` on: multiplies the fragments `a` by the 2 N centroids
/// of a tile. If `first` is 0 the accumulators are overwritten, otherwise the products are added to
/// them. All threads of the warpgroup must call it.
template <bool Wgmma, int Count, int N>
__device__ __forceinline__ void multiply_steps(float (&scores)[N], const uint4 (&a)[Count],
                                               const CentroidTile& tile, int first) {
  if constexpr (Wgmma) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    pin(scores);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      const auto step = static_cast<std::uint32_t>(first + i);
      const std::uint32_t address =
          tile.address + step / kImageSteps * tile.section_bytes + step % kImageSteps * 32;
      wgmma_step(scores, a[i], wgmma_descriptor(address), static_cast<int>(step));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    pin(scores);
#else
    __trap();  // the host launches this kernel on sm_90 only, for which it is compiled as sm_90a
#endif
  } else {
    if (first == 0) {
#pragma unroll
      for (float& score : scores) score = 0;
    }
    // The lane loads a row of matrix lane / 8: features 8 (lane / 8 % 2) to 8 (lane / 8 % 2) + 7 of
    // the step, centroids 8 (lane / 16) to 8 (lane / 16) + 7 of a pair of column blocks.
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t row = lane / 16 * 8 + lane % 8;
    const std::uint32_t half = lane / 8 % 2;
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      const auto step = static_cast<std::uint32_t>(first + i);
      const std::uint32_t chunk = step % kImageSteps * 2 + half;
      const std::uint32_t address = tile.address + step / kImageSteps * tile.section_bytes +
                                    row * 128 + ((chunk ^ (row % 8)) * 16);
#pragma unroll
      for (int pair = 0; pair < N / 8; ++pair) {
        const uint4 b = load_matrices(address + static_cast<std::uint32_t>(pair) * 16 * 128);
        mma_step(scores + pair * 8, a[i], b.x, b.y);
        mma_step(scores + pair * 8 + 4, a[i], b.z, b.w);
      }
    }
  }
}

}  // namespace lloyd_cuda_fast
