#include "cuda-fast/decisions/decisions.cuh"

#include <algorithm>
#include <cfloat>

#include "cuda/device/check.hpp"
#include "cuda/passes/distance.cuh"
#include "cuda/passes/halt_flag.cuh"

namespace lloyd_cuda_fast {
namespace {

using lloyd_cuda::Pass;
using lloyd_cuda::Samples;

constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 8;
constexpr int kLanesPerSample = 8;

// Rows that a thread classifies between two reservations of list positions.
constexpr int kRowsPerThread = 4;

// What a row is classified by.
struct LoadedRow {
  float best;  // the two lowest scores over all parts, and the centroid of the lowest
  float second;
  std::int32_t nearest;
  std::int32_t former;  // its label before
  float2 norms;

  // `at`: the row in `summaries`; `row`: in the slab.
  __device__ void load(const ClassificationArguments& classification, const Summaries& summaries,
                       int parts, std::int64_t at, std::int64_t row) {
    former = classification.decision.pass.labels[classification.decision.pass.rows.begin + row];
    norms = classification.norms[row];
    best = summaries.best[at];
    second = summaries.second[at];
    nearest = summaries.nearest[at];
    for (int part = 1; part < parts; ++part) {
      const std::int64_t other = part * summaries.stride + at;
      const float other_best = summaries.best[other];
      second = fminf(fminf(second, summaries.second[other]), fmaxf(best, other_best));
      if (other_best < best) {
        best = other_best;
        nearest = summaries.nearest[other];
      }
    }
  }
};

// The outcome of the classification of a row.
struct ClassifiedRow {
  bool changed = false;  // its label is proven and has changed
  bool open = false;     // its label is not proven
  float limit = 0;       // OpenSamples::limits of an open row
};

__device__ ClassifiedRow classify(const ClassificationArguments& classification,
                                  const CentroidNorms& centroids, const LoadedRow& row) {
  const ScreenError error =
      ScreenError::of_image(row.norms.x, row.norms.y, centroids, classification.steps);
  // If all centroids are so far from the sample that a column beyond the last one may have the
  // lowest score, or if that may be the score of a far centroid, all of them are candidates.
  const bool may_be_far =
      centroids.has_far != 0 && (!is_distinct(row.best, row.second, error) ||
                                 row.nearest >= classification.decision.pass.clusters ||
                                 (classification.far[row.nearest] & kFarInImage) != 0);
  const bool is_centroid = row.best < kMinPaddingScore &&
                           row.nearest < classification.decision.pass.clusters && !may_be_far;
  ClassifiedRow classified;
  classified.open = !(is_centroid && proves_label(row.best, row.second, error));
  classified.changed = !classified.open && row.former != row.nearest;
  if (classified.open) {
    classified.limit = is_centroid ? candidate_limit(row.best, error) : FLT_MAX;
  }
  return classified;
}

// Positions in the lists of changed and open rows. A thread has at most kRowsPerThread entries in
// each.
class BlockPositions {
 public:
  // Reserves positions for the entries of all threads of the block, by one atomic addition per
  // list. `changed_count` may be null: changed rows are then not listed.
  __device__ BlockPositions(unsigned int changed, unsigned int open, unsigned int* changed_count,
                            unsigned int* open_count) {
    __shared__ unsigned int warp_ends[kThreads / 32];
    __shared__ unsigned int first_changed;
    __shared__ unsigned int first_open;
    // Both numbers in one word: a block has fewer than 2^16 entries in each list.
    static_assert(kThreads * kRowsPerThread < 1 << 16);
    const unsigned int lane = threadIdx.x % 32;
    const unsigned int own = open << 16 | changed;
    unsigned int end = own;
    for (unsigned int offset = 1; offset < 32; offset *= 2) {
      const unsigned int left = __shfl_up_sync(kFullWarp, end, offset);
      if (lane >= offset) end += left;
    }
    if (lane == 31) warp_ends[threadIdx.x / 32] = end;
    __syncthreads();
    unsigned int before = end - own;
    unsigned int total = 0;
    for (unsigned int warp = 0; warp < kThreads / 32; ++warp) {
      if (warp < threadIdx.x / 32) before += warp_ends[warp];
      total += warp_ends[warp];
    }
    if (threadIdx.x == 0) {
      const unsigned int changed_entries = total & 0xffff;
      const unsigned int open_entries = total >> 16;
      first_changed = changed_entries != 0 && changed_count != nullptr
                          ? atomicAdd(changed_count, changed_entries)
                          : 0;
      first_open = open_entries != 0 ? atomicAdd(open_count, open_entries) : 0;
    }
    __syncthreads();
    changed_ = first_changed + (before & 0xffff);
    open_ = first_open + (before >> 16);
    __syncthreads();  // the next use of the shared memory may follow
  }
  // The position of this thread's next entry.
  __device__ unsigned int next_changed() { return changed_++; }
  __device__ unsigned int next_open() { return open_++; }

 private:
  unsigned int changed_ = 0;
  unsigned int open_ = 0;
};

// `skipped`: rows of the first tile that precede the slab.
__global__ void classification_kernel(ClassificationArguments classification, std::int64_t skipped,
                                      int parts, Summaries summaries) {
  const DecisionArguments& decision = classification.decision;
  const Pass& pass = decision.pass;
  if (lloyd_cuda::block_halted(pass.halt)) return;
  const std::int64_t rows = pass.rows.size();
  constexpr int kBlockRows = kThreads * kRowsPerThread;
  const CentroidNorms centroids = *classification.centroids;
  std::int32_t* const labels = pass.labels + pass.rows.begin;
  unsigned int changed = 0;
  for (std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kBlockRows; begin < rows;
       begin += static_cast<std::int64_t>(gridDim.x) * kBlockRows) {
    const std::int64_t first = begin + threadIdx.x;
    LoadedRow loaded[kRowsPerThread];
#pragma unroll
    for (int r = 0; r < kRowsPerThread; ++r) {
      const std::int64_t row = first + r * kThreads < rows ? first + r * kThreads : begin;
      loaded[r].load(classification, summaries, parts, skipped + row, row);
    }
    ClassifiedRow classified[kRowsPerThread];
    unsigned int changed_here = 0;
    unsigned int open_here = 0;
#pragma unroll
    for (int r = 0; r < kRowsPerThread; ++r) {
      const std::int64_t row = first + r * kThreads;
      if (row >= rows) continue;
      classified[r] = classify(classification, centroids, loaded[r]);
      if (classified[r].changed) labels[row] = loaded[r].nearest;
      changed_here += classified[r].changed ? 1 : 0;
      open_here += classified[r].open ? 1 : 0;
    }
    changed += changed_here;
    BlockPositions positions(changed_here, open_here, decision.changed.count, decision.open.count);
#pragma unroll
    for (int r = 0; r < kRowsPerThread; ++r) {
      const auto row = static_cast<std::int32_t>(first + r * kThreads);
      if (classified[r].changed && decision.changed.count != nullptr) {
        const unsigned int at = positions.next_changed();
        decision.changed.rows[at] = row;
        decision.changed.former[at] = loaded[r].former;
      }
      const unsigned int slot = classified[r].open ? positions.next_open() : 0;
      const bool has_slot = classified[r].open && slot < decision.open.capacity;
      if (has_slot) {
        decision.open.rows[slot] = row;
        decision.open.limits[slot] = classified[r].limit;
        decision.open.candidate_counts[slot] = 0;
      }
      add_row(decision.overflow, row, classified[r].open && !has_slot);
    }
  }
  add_block_sum(pass.changed, changed);
}

// Several lanes share a sample; each of them evaluates whole distances. The open samples come
// first, then the hard ones.
template <class T>
__global__ void decision_kernel(DecisionArguments decision, Samples<T> samples) {
  const Pass& pass = decision.pass;
  if (lloyd_cuda::block_halted(pass.halt)) return;
  const OpenSamples& open = decision.open;
  constexpr int kSamplesPerBlock = kThreads / kLanesPerSample;
  const std::int64_t with_slots = open.count == nullptr ? 0 : used_slots(open);
  const std::int64_t count = with_slots + *decision.hard.count;
  // Rounded up, so that all lanes of a warp reach store_label() and the shuffles.
  const std::int64_t padded = (count + kSamplesPerBlock - 1) / kSamplesPerBlock * kSamplesPerBlock;
  const int lane = static_cast<int>(threadIdx.x) % kLanesPerSample;
  unsigned int changed = 0;
  unsigned int decided = 0;
  for (std::int64_t slot =
           static_cast<std::int64_t>(blockIdx.x) * kSamplesPerBlock + threadIdx.x / kLanesPerSample;
       slot < padded; slot += static_cast<std::int64_t>(gridDim.x) * kSamplesPerBlock) {
    std::int32_t row = 0;
    std::int64_t centroids = 0;
    const std::int32_t* candidates = nullptr;  // null: all centroids
    bool decides = slot < count;
    if (slot < with_slots) {
      row = open.rows[slot];
      centroids = open.candidate_counts[slot];
      candidates = open.candidates + slot * OpenSamples::kMaxCandidates;
      decides = centroids <= OpenSamples::kMaxCandidates;  // others are in the overflow
      if (!decides) centroids = 0;
    } else if (decides) {
      row = decision.hard.rows[slot - with_slots];
      centroids = pass.clusters;
    }
    NearestCentroid nearest;
    for (std::int64_t i = lane; i < centroids; i += kLanesPerSample) {
      const std::int32_t centroid =
          candidates != nullptr ? candidates[i] : static_cast<std::int32_t>(i);
      nearest.update(lloyd_cuda::exact_distance(samples, pass.rows.begin + row,
                                                pass.centroids + centroid * samples.features),
                     centroid);
    }
    nearest.reduce(kLanesPerSample);
    const bool stores = decides && lane == 0;
    if (store_label(decision, row, nearest.label, stores)) ++changed;
    if (stores) ++decided;
  }
  add_block_sum(pass.changed, changed);
  add_block_sum(decision.fallbacks, decided);
}

}  // namespace

void enqueue_classification(const ClassificationArguments& classification,
                            const Summaries& summaries, int parts, std::int64_t skipped) {
  const Pass& pass = classification.decision.pass;
  if (pass.rows.size() == 0) return;
  constexpr std::int64_t kMaxBlocks = 2048;
  constexpr std::int64_t kBlockRows = kThreads * kRowsPerThread;
  const std::int64_t blocks =
      std::min((pass.rows.size() + kBlockRows - 1) / kBlockRows, kMaxBlocks);
  classification_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, pass.stream>>>(
      classification, skipped, parts, summaries);
  lloyd_cuda::check_launch("classification_kernel");
}

template <class T>
void enqueue_decision(const DecisionArguments& decision, const Samples<T>& samples,
                      int multiprocessors) {
  if (decision.pass.rows.size() == 0) return;
  decision_kernel<T><<<static_cast<unsigned>(multiprocessors * kBlocksPerMultiprocessor), kThreads,
                       0, decision.pass.stream>>>(decision, samples);
  lloyd_cuda::check_launch("decision_kernel");
}

template void enqueue_decision(const DecisionArguments&, const Samples<float>&, int);
template void enqueue_decision(const DecisionArguments&, const Samples<double>&, int);

}  // namespace lloyd_cuda_fast
