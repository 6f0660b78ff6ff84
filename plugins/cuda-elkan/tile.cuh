// Squared distances of 32 rows to 16 centroids, by one warp.
#pragma once

#include <cstdint>

#include "block.cuh"
#include "cuda/passes/distance.cuh"

namespace lloyd_cuda_elkan {

inline constexpr int kTileRows = 32;
inline constexpr int kTileColumns = 16;
inline constexpr int kTileFeatures = 16;

/// Shared memory of a warp. The chunks `rows` and `columns` are stored with an even number of
/// values between vectors, so that two values are loaded at once.
struct alignas(16) TileMemory {
  static constexpr int kRowStride = kTileRows + 2;
  static constexpr int kColumnStride = kTileColumns + 2;
  static constexpr int kResultStride = kTileColumns + 1;

  union {
    double rows[kTileFeatures * kRowStride];
    double squared[kTileRows * kResultStride];  ///< the result
  };
  double columns[kTileFeatures * kColumnStride];

  /// The squared distance of row r and column c of the tile.
  __device__ double result(int r, int c) const { return squared[r * kResultStride + c]; }
};

/// Copies `width` features of `count` vectors, which are `stride` values apart, into a chunk;
/// missing ones become zero. All lanes must call it.
template <int kVectors, int kStride, class V>
__device__ inline void load_chunk(const V* from, std::int64_t stride, int count, int width,
                                  double* to) {
  const int lane = threadIdx.x % kWarp;
  if (width == kTileFeatures) {
    const int feature = lane % kTileFeatures;
    for (int vector = lane / kTileFeatures; vector < kVectors; vector += kWarp / kTileFeatures) {
      to[feature * kStride + vector] =
          vector < count ? static_cast<double>(from[vector * stride + feature]) : 0.0;
    }
  } else {
    for (int at = lane; at < kVectors * width; at += kWarp) {
      const int vector = at / width;
      const int feature = at - vector * width;
      to[feature * kStride + vector] =
          vector < count ? static_cast<double>(from[vector * stride + feature]) : 0.0;
    }
  }
}

/// Squared distances, by the definition, between `row_count` vectors of d features at `rows` and
/// `column_count` vectors at `columns`, into `memory.squared`. All lanes must call it; the result
/// may be read at once.
template <class V>
__device__ inline void tile_distances(const V* rows, std::int64_t row_stride, int row_count,
                                      const double* columns, int column_count, std::int64_t d,
                                      TileMemory& memory) {
  constexpr int kStep = 2;  // values per load of a lane
  const int lane = threadIdx.x % kWarp;
  const int row = lane % 8 * kStep;     // and row + 1, row + 16, row + 17
  const int column = lane / 8 * kStep;  // and column + 1, column + 8, column + 9
  double sums[4][4] = {};
  for (std::int64_t first = 0; first < d; first += kTileFeatures) {
    const int width = static_cast<int>(d - first < kTileFeatures ? d - first : kTileFeatures);
    __syncwarp();  // the former chunk has been read
    load_chunk<kTileRows, TileMemory::kRowStride>(rows + first, row_stride, row_count, width,
                                                  memory.rows);
    load_chunk<kTileColumns, TileMemory::kColumnStride>(columns + first, d, column_count, width,
                                                        memory.columns);
    __syncwarp();
#pragma unroll 2
    for (int j = 0; j < width; ++j) {
      const double* x = memory.rows + j * TileMemory::kRowStride + row;
      const double* c = memory.columns + j * TileMemory::kColumnStride + column;
      const double2 x0 = *reinterpret_cast<const double2*>(x);
      const double2 x1 = *reinterpret_cast<const double2*>(x + 16);
      const double2 c0 = *reinterpret_cast<const double2*>(c);
      const double2 c1 = *reinterpret_cast<const double2*>(c + 8);
      const double xs[4] = {x0.x, x0.y, x1.x, x1.y};
      const double cs[4] = {c0.x, c0.y, c1.x, c1.y};
#pragma unroll
      for (int r = 0; r < 4; ++r) {
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          sums[r][q] = lloyd_cuda::add_square(sums[r][q], lloyd_cuda::subtract(xs[r], cs[q]));
        }
      }
    }
  }
  __syncwarp();
#pragma unroll
  for (int r = 0; r < 4; ++r) {
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const int at_row = row + r % 2 + r / 2 * 16;
      const int at_column = column + q % 2 + q / 2 * 8;
      memory.squared[at_row * TileMemory::kResultStride + at_column] = sums[r][q];
    }
  }
  __syncwarp();
}

}  // namespace lloyd_cuda_elkan
