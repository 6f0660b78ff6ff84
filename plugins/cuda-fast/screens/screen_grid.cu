// The first screen: the two lowest scores of every sample, by grids of minima.
#include <climits>

#include "cuda-fast/decisions/decisions.hpp"
#include "cuda-fast/screens/screen_kernel.cuh"

namespace lloyd_cuda_fast {
namespace {

constexpr int kGroupScores = 8;  // scores of one sample that form a row of the grid
// Columns of a tile from which the four lanes of a sample have a group each.
constexpr int kGroupColumns = 4 * kGroupScores;
constexpr int kRowBits = 6;  // for kMaxPartColumns / kGroupColumns rows

// The bits of positive floats are ordered as integers are, and a 3-way minimum of integers takes
// one instruction.
__device__ __forceinline__ int pack(int bits, int mask, int index) {
  return (bits & ~mask) | index;
}

// The two lowest values.
struct LowestTwo {
  int best = INT_MAX;
  int second = INT_MAX;
  __device__ __forceinline__ void update(int value) {
    second = min(second, max(best, value));
    best = min(best, value);
  }
};

__device__ __forceinline__ int min_of_three(int a, int b, int c) {
#if __CUDACC_VER_MAJOR__ >= 12
  return __vimin3_s32(a, b, c);
#else
  return min(min(a, b), c);
#endif
}

// Writes Summaries. The scores of a sample in a thread form a grid with a row per group of
// kGroupScores scores and a column per position in a group. The minima of all rows and columns give
// the lowest score, its index, and the second-lowest score: two scores of one row differ in column.
template <int Columns>
class GridEpilogue {
 public:
  static constexpr int kColumns = Columns;

  GridEpilogue(const Screen& screen, const Summaries& summaries)
      : fragments_(screen.fragments.values),
        steps_(screen.shape.steps),
        first_(first_tile_row(screen)),
        first_fragment_((first_ - screen.fragments.first_row) / 16),
        rows_(screen.rows),
        part_columns_(screen.shape.part_columns),
        summaries_(summaries) {}

  __device__ std::int64_t tiles() const { return (rows_.end - first_ + kTileRows - 1) / kTileRows; }
  __device__ __forceinline__ void begin_loading(std::int64_t tile) {
    const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
    const std::int64_t group = first_fragment_ + tile * 4 + warp;
    loading_ = fragments_ + group * steps_ * 32 + threadIdx.x % 32;
  }
  __device__ __forceinline__ uint4 load(int step) const { return __ldg(loading_ + step * 32); }
  __device__ __forceinline__ void begin_tile(std::int64_t tile) {
    tile_ = tile;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      rows_of_grid_[r] = {};
#pragma unroll
      for (int& minimum : columns_of_grid_[r]) minimum = INT_MAX;
    }
  }
  __device__ __forceinline__ void score(int, int columns, const Accumulators<Columns>& scores) {
    const int first_group = columns / kGroupColumns;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      int grid[kGroups][kGroupScores];
#pragma unroll
      for (int q = 0; q < kGroups; ++q) {
#pragma unroll
        for (int i = 0; i < kGroupScores; ++i) {
          grid[q][i] = __float_as_int(scores[q * 16 + i / 2 * 4 + r * 2 + i % 2]);
        }
        const int left = min_of_three(grid[q][0], grid[q][1], grid[q][2]);
        const int middle = min_of_three(left, grid[q][3], grid[q][4]);
        const int right = min_of_three(middle, grid[q][5], grid[q][6]);
        rows_of_grid_[r].update(pack(min(right, grid[q][7]), (1 << kRowBits) - 1, first_group + q));
      }
#pragma unroll
      for (int i = 0; i < kGroupScores; ++i) {
        int& minimum = columns_of_grid_[r][i];
#pragma unroll
        for (int q = 0; q < kGroups; q += 2) {
          minimum = min_of_three(minimum, grid[q][i], grid[q + 1][i]);
        }
      }
    }
  }
  // Of the four lanes that share two samples, lane t = 0, 1 keeps the result of sample r = t.
  __device__ __forceinline__ void end_tile(int part) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
    int own_best = 0;
    int own_second = 0;
    int own_nearest = 0;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      LowestTwo column;
#pragma unroll
      for (int i = 0; i < kGroupScores; ++i) {
        column.update(pack(columns_of_grid_[r][i], kGroupScores - 1, i));
      }
      int best = rows_of_grid_[r].best;
      int second = min(rows_of_grid_[r].second, column.second);
      const int group = best & ((1 << kRowBits) - 1);
      const int position = column.best & (kGroupScores - 1);
      int nearest = group * kGroupColumns + position / 2 * 8 + lane % 4 * 2 + position % 2;
#pragma unroll
      for (int offset = 1; offset < 4; offset <<= 1) {  // the lanes with scores of this sample
        const int other_best = __shfl_xor_sync(0xffffffffu, best, offset);
        const int other_second = __shfl_xor_sync(0xffffffffu, second, offset);
        const int other_nearest = __shfl_xor_sync(0xffffffffu, nearest, offset);
        second = min_of_three(second, other_second, max(best, other_best));
        const bool other_wins =
            other_best < best || (other_best == best && other_nearest < nearest);
        nearest = other_wins ? other_nearest : nearest;
        best = min(best, other_best);
      }
      if (lane % 4 != r) continue;
      own_best = best;
      own_second = second;
      own_nearest = part * part_columns_ + nearest;
    }
    const std::int64_t at_tile = tile_ * kTileRows + warp * 16 + lane / 4 + lane % 2 * 8;
    const std::int64_t row = first_ + at_tile - rows_.begin;  // relative to the slab
    if (lane % 4 < 2 && row >= 0 && row < rows_.size()) {
      const std::int64_t at = part * summaries_.stride + at_tile;
      summaries_.best[at] = __int_as_float(own_best);
      summaries_.second[at] = __int_as_float(own_second);
      summaries_.nearest[at] = own_nearest;
    }
    __syncwarp();  // matrix instructions follow
  }

 private:
  // Groups of a sample in the accumulators of a thread.
  static constexpr int kGroups = Columns / kGroupColumns;

  const uint4* fragments_;
  int steps_;
  std::int64_t first_;           // row
  std::int64_t first_fragment_;  // group of 16 rows
  lloyd::RowRange rows_;
  int part_columns_;
  Summaries summaries_;

  const uint4* loading_ = nullptr;
  std::int64_t tile_ = 0;
  LowestTwo rows_of_grid_[2];
  int columns_of_grid_[2][kGroupScores] = {};
};

static_assert(kMaxPartColumns / kGroupColumns <= 1 << kRowBits);

}  // namespace

void enqueue_screen(const Screen& screen, ScreenPath path, const Summaries& summaries,
                    const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream) {
  with_tile_columns(screen.shape, [&]<int Columns>() {
    launch_on_path(screen, path, GridEpilogue<Columns>(screen, summaries), limits, stream);
  });
}

}  // namespace lloyd_cuda_fast
