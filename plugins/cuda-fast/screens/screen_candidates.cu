// The second screen: lists the centroids that may be nearest to an open sample.
#include "cuda-fast/screens/screen_kernel.cuh"

namespace lloyd_cuda_fast {
namespace {

// Row i of the tiles is slot i of the open samples.
class CandidateEpilogue {
 public:
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
  __device__ __forceinline__ void score(int part, int columns, const Accumulators& scores) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (slot_[r] >= slots_) continue;
#pragma unroll
      for (int i = 0; i < 32; ++i) {
        // True if the limit is NaN.
        if (scores[i / 2 * 4 + r * 2 + i % 2] > limit_[r]) continue;
        const int column = columns + i / 2 * 8 + static_cast<int>(threadIdx.x) % 4 * 2 + i % 2;
        const std::int64_t centroid = std::int64_t{part} * part_columns_ + column;
        if (centroid >= clusters_) continue;
        const unsigned int at = atomicAdd(open_.candidate_counts + slot_[r], 1u);
        if (at == OpenSamples::kMaxCandidates) {
          overflow_.rows[atomicAdd(overflow_.count, 1u)] = open_.rows[slot_[r]];
        }
        if (at >= OpenSamples::kMaxCandidates) continue;
        open_.candidates[std::int64_t{slot_[r]} * OpenSamples::kMaxCandidates + at] =
            static_cast<std::int32_t>(centroid);
      }
    }
    __syncwarp();  // matrix instructions follow
  }
  __device__ __forceinline__ void end_tile(int) {}

 private:
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
  launch_on_path(screen, path, CandidateEpilogue(screen, decision.open, decision.overflow), limits,
                 decision.pass.stream);
}

}  // namespace lloyd_cuda_fast
