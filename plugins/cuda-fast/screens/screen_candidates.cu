// The second screen: lists the centroids that may be nearest to an open sample.
#include "cuda-fast/decisions/decisions.cuh"
#include "cuda-fast/screens/screen_kernel.cuh"

namespace lloyd_cuda_fast {
namespace {

// Row i of the tiles is slot i of the open samples.
template <int Columns>
class CandidateEpilogue {
 public:
  static constexpr int kColumns = Columns;

  CandidateEpilogue(const Screen& screen, const OpenSamples& open, const RowList& overflow)
      : fragments_(screen.fragments.values),
        steps_(screen.shape.steps),
        first_row_(screen.rows.begin - screen.fragments.first_row),
        clusters_(screen.clusters),
        part_columns_(screen.shape.part_columns),
        open_(open),
        overflow_(overflow) {}

  __device__ std::int64_t tiles() {
    slots_ = used_slots(open_);
    return (std::int64_t{slots_} + kTileRows - 1) / kTileRows;
  }
  __device__ __forceinline__ void begin_loading(std::int64_t tile) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const unsigned int slot = slot_of(tile, r);
      const std::int64_t row = slot < slots_ ? first_row_ + open_.rows[slot] : first_row_;
      const std::int64_t fragment = row / 16 * steps_ * 32 + row % 8 * 4 + threadIdx.x % 4;
      loading_[r] = reinterpret_cast<const unsigned int*>(fragments_ + fragment) + row % 16 / 8;
    }
  }
  __device__ __forceinline__ uint4 load(int step) const {
    const int at = step * 32 * 4;
    return {__ldg(loading_[0] + at), __ldg(loading_[1] + at), __ldg(loading_[0] + at + 2),
            __ldg(loading_[1] + at + 2)};
  }
  __device__ __forceinline__ void begin_tile(std::int64_t tile) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      slot_[r] = slot_of(tile, r);
      limit_[r] = slot_[r] < slots_ ? open_.limits[slot_[r]] : 0;
    }
  }
  __device__ __forceinline__ void score(int part, int columns,
                                        const Accumulators<Columns>& scores) {
    const std::int64_t first = std::int64_t{part} * part_columns_ + columns;
    unsigned int hits[2];  // bit i: score i of the sample is a candidate's
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      hits[r] = 0;
#pragma unroll
      for (int i = 0; i < kScores; ++i) {
        // True if the limit is NaN.
        const bool is_hit = !(scores[i / 2 * 4 + r * 2 + i % 2] > limit_[r]);
        hits[r] |= is_hit ? 1u << i : 0u;
      }
      if (slot_[r] >= slots_) hits[r] = 0;
    }
    if (first + Columns > clusters_) {  // columns beyond the last centroid are none
      const std::int64_t columns_left = clusters_ - first;
#pragma unroll
      for (int i = 0; i < kScores; ++i) {
        if (column_of(i) >= columns_left) {
          hits[0] &= ~(1u << i);
          hits[1] &= ~(1u << i);
        }
      }
    }
    if (__any_sync(kFullWarp, (hits[0] | hits[1]) != 0)) append_candidates(first, hits);
  }
  __device__ __forceinline__ void end_tile(int) {}

 private:
  static constexpr int kScores = Columns / 4;  // of a sample in a thread

  // The column of score i within the tile.
  __device__ __forceinline__ static int column_of(int i) {
    return i / 2 * 8 + static_cast<int>(threadIdx.x) % 4 * 2 + i % 2;
  }
  // Adds the candidates `hits` to those of the samples. `first`: the first centroid of the tile.
  // The four lanes with scores of a sample reserve positions together. All lanes of the warp call
  // it.
  __device__ __forceinline__ void append_candidates(std::int64_t first,
                                                    unsigned int (&hits)[2]) const {
    const unsigned int lane = threadIdx.x % 32;
    unsigned int before[2];  // candidates in the lanes of the sample before this one
    unsigned int total[2];
    unsigned int at[2] = {0, 0};
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const auto own = static_cast<unsigned int>(__popc(hits[r]));
      const unsigned int neighbour = __shfl_xor_sync(kFullWarp, own, 1);
      const unsigned int other_pair = __shfl_xor_sync(kFullWarp, own + neighbour, 2);
      before[r] = (lane % 2 == 1 ? neighbour : 0) + (lane % 4 >= 2 ? other_pair : 0);
      total[r] = own + neighbour + other_pair;
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (lane % 4 != 0 || total[r] == 0) continue;
      at[r] = atomicAdd(open_.candidate_counts + slot_[r], total[r]);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const bool crosses =
          at[r] <= OpenSamples::kMaxCandidates && at[r] + total[r] > OpenSamples::kMaxCandidates;
      if (lane % 4 == 0 && crosses) {
        overflow_.rows[atomicAdd(overflow_.count, 1u)] = open_.rows[slot_[r]];
      }
      unsigned int position = __shfl_sync(kFullWarp, at[r], lane / 4 * 4) + before[r];
      std::int32_t* const candidates =
          open_.candidates + std::int64_t{slot_[r]} * OpenSamples::kMaxCandidates;
      for (unsigned int left = hits[r]; left != 0; left &= left - 1, ++position) {
        if (position >= OpenSamples::kMaxCandidates) break;
        const int i = __ffs(static_cast<int>(left)) - 1;
        candidates[position] = static_cast<std::int32_t>(first + column_of(i));
      }
    }
    __syncwarp();  // matrix instructions follow
  }
  __device__ __forceinline__ static unsigned int slot_of(std::int64_t tile, int r) {
    const unsigned int warp = threadIdx.x / 32 % 4;
    return static_cast<unsigned int>(tile) * kTileRows + warp * 16 + threadIdx.x % 32 / 4 +
           static_cast<unsigned int>(r) * 8;
  }

  const uint4* fragments_;
  int steps_;
  std::int64_t first_row_;  // of the slab, counted from the first fragment
  std::int64_t clusters_;
  int part_columns_;
  OpenSamples open_;
  RowList overflow_;

  unsigned int slots_ = 0;
  const unsigned int* loading_[2] = {};
  unsigned int slot_[2] = {};
  float limit_[2] = {};
};

}  // namespace

void enqueue_candidates(const Screen& screen, ScreenPath path, const DecisionArguments& decision,
                        const lloyd_cuda::DeviceLimits& limits) {
  if (screen.rows.size() == 0) return;
  with_tile_columns(screen.shape, [&]<int Columns>() {
    launch_on_path(screen, path,
                   CandidateEpilogue<Columns>(screen, decision.open, decision.overflow), limits,
                   decision.pass.stream);
  });
}

}  // namespace lloyd_cuda_fast
