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
constexpr int kBlocksPerMultiprocessor = 4;
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

// Evaluates up to 32 squared distances at once, one for each lane of a warp, by the definition. The
// definition adds the squares of a distance in order, but they can be computed in any order: all
// lanes compute the squares of all pairs, with coalesced loads, into shared memory. Then each lane
// adds those of its own pair. One object per warp, in shared memory.
template <class T>
class WarpDistances {
 public:
  // The squared distance of a sample and a centroid for each lane with `has_pair`. Other lanes pass
  // any valid pointers, which may be read. All lanes of a warp must call it.
  __device__ double evaluate(const Samples<T>& samples, bool has_pair, const T* sample,
                             const double* centroid) {
    const unsigned int lanes = __ballot_sync(kFullWarp, has_pair);
    if (lanes == 0) return 0;
    const int pairs = __popc(lanes);
    const int pairs_before = __popc(lanes & ((1u << lane()) - 1));
    const int own = has_pair ? pairs_before : pairs + lane() - pairs_before;
    samples_[own] = sample;
    centroids_[own] = centroid;
    __syncwarp();
    // Larger chunks take fewer barriers, but hold fewer pairs.
    if (samples.features > 16 && pairs <= kTerms / 32) {
      return add_chunks<32>(samples, pairs, has_pair, own);
    }
    if (samples.features > 8 && pairs <= kTerms / 16) {
      return add_chunks<16>(samples, pairs, has_pair, own);
    }
    return add_chunks<8>(samples, pairs, has_pair, own);
  }

 private:
  static constexpr int kTerms = 256;  // of all pairs, in a chunk
  static constexpr int kTermsPerLane = kTerms / 32;
  // Terms that a lane processes between two branches.
  static constexpr int kGroup = 4;

  // The values of a lane's terms in a chunk of kChunk features. Each kChunk lanes process every
  // (32 / kChunk)-th pair. Values beyond the last pair are loaded, too, but not added.
  template <int kChunk>
  struct Terms {
    static constexpr int kPairsPerWarp = 32 / kChunk;
    // Between rows of `squares_`: even, for loads of two values, and such that lanes that read the
    // same columns access different banks.
    static constexpr int kPitch = kChunk + 2;

    // `first`: the first feature of the chunk.
    __device__ __forceinline__ void load(const WarpDistances& distances, const Samples<T>& samples,
                                         int pairs, int first) {
      const int feature = min(first + lane() % kChunk, static_cast<int>(samples.features) - 1);
      const std::int64_t offset = feature * samples.feature_stride;
#pragma unroll
      for (int i = 0; i < kTermsPerLane; ++i) {
        if (i % kGroup == 0 && i * kPairsPerWarp >= pairs) break;
        const int pair = i * kPairsPerWarp + lane() / kChunk;
        sample_[i] = __ldg(distances.samples_[pair] + offset);
        centroid_[i] = __ldg(distances.centroids_[pair] + feature);
      }
    }
    __device__ __forceinline__ void store_squares(WarpDistances& distances, int pairs) const {
      double* const of_lane = distances.squares_ + lane() / kChunk * kPitch + lane() % kChunk;
#pragma unroll
      for (int i = 0; i < kTermsPerLane; ++i) {
        if (i % kGroup == 0 && i * kPairsPerWarp >= pairs) break;
        const double difference =
            lloyd_cuda::subtract(static_cast<double>(sample_[i]), centroid_[i]);
        of_lane[i * kPairsPerWarp * kPitch] = __dmul_rn(difference, difference);
      }
    }

    T sample_[kTermsPerLane] = {};
    double centroid_[kTermsPerLane] = {};
  };

  // The sum of the squares of pair `own`, if the lane has one.
  template <int kChunk>
  __device__ __forceinline__ double add_chunks(const Samples<T>& samples, int pairs, bool has_pair,
                                               int own) {
    const auto features = static_cast<int>(samples.features);
    const double* const own_squares = squares_ + own * Terms<kChunk>::kPitch;
    Terms<kChunk> terms;
    terms.load(*this, samples, pairs, 0);
    double sum = 0;
    for (int first = 0; first < features; first += kChunk) {
      terms.store_squares(*this, pairs);
      __syncwarp();
      // The loads of the next chunk overlap the additions.
      if (first + kChunk < features) terms.load(*this, samples, pairs, first + kChunk);
      if (has_pair) sum = add_squares(sum, own_squares, min(kChunk, features - first));
      __syncwarp();
    }
    return sum;
  }

  // sum + squares[0] + ... + squares[count - 1], in this order.
  __device__ __forceinline__ static double add_squares(double sum, const double* squares,
                                                       int count) {
    int j = 0;
    for (; j + 8 <= count; j += 8) {
      double2 values[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        values[i] = *reinterpret_cast<const double2*>(squares + j + 2 * i);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sum = __dadd_rn(__dadd_rn(sum, values[i].x), values[i].y);
      }
    }
    for (; j < count; ++j) sum = __dadd_rn(sum, squares[j]);
    return sum;
  }

  __device__ __forceinline__ static int lane() {
    return static_cast<int>(threadIdx.x) % 32;
  }

  const T* samples_[32];  // of the pairs
  const double* centroids_[32];
  __align__(16) double squares_[kTerms + 2 * 32];  // a row per pair
};

// What a lane of decision_kernel compares: candidates lane, lane + kLanesPerSample... of a sample.
struct DecidedSample {
  std::int32_t row = 0;  // in the slab
  bool decides = false;  // the sample exists, and its label is decided here
  std::int32_t centroids = 0;
  std::int32_t candidate = -1;  // of the lane; -1: the sample is compared with all centroids
  std::int32_t former = 0;      // its label before

  // Samples are counted over those with slots, then the hard ones.
  __device__ void load(const DecisionArguments& decision, unsigned int with_slots,
                       unsigned int sample, int lane) {
    const OpenSamples& open = decision.open;
    if (sample >= with_slots) {
      row = decision.hard.rows[sample - with_slots];
      centroids = static_cast<std::int32_t>(decision.pass.clusters);
      decides = true;
    } else {
      row = open.rows[sample];
      centroids = static_cast<std::int32_t>(open.candidate_counts[sample]);
      candidate = open.candidates[std::int64_t{sample} * OpenSamples::kMaxCandidates + lane];
      decides = centroids <= OpenSamples::kMaxCandidates;  // others are in the overflow
      if (!decides) centroids = 0;
    }
    former = decision.pass.labels[decision.pass.rows.begin + row];
  }
};

// kLanesPerSample lanes share a sample.
template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    decision_kernel(DecisionArguments decision, Samples<T> samples) {
  static_assert(kLanesPerSample == OpenSamples::kMaxCandidates);
  __shared__ WarpDistances<T> distances[kThreads / 32];
  const Pass& pass = decision.pass;
  const unsigned int with_slots = decision.open.count == nullptr ? 0 : used_slots(decision.open);
  const unsigned int count = with_slots + *decision.hard.count;
  if (lloyd_cuda::block_halted(pass.halt)) return;
  // Few samples are spread over all warps, and those over all blocks.
  const unsigned int warps = gridDim.x * (kThreads / 32);
  const unsigned int samples_per_warp = count > 2 * warps ? 4 : count > warps ? 2 : 1;
  if (blockIdx.x * samples_per_warp >= count) return;
  const unsigned int warp = threadIdx.x / 32 * gridDim.x + blockIdx.x;
  const int lane = static_cast<int>(threadIdx.x) % kLanesPerSample;
  const unsigned int sample_of_warp = threadIdx.x % 32 / kLanesPerSample;
  unsigned int changed = 0;
  unsigned int decided = 0;
  for (unsigned int first = warp * samples_per_warp; first < count;
       first += warps * samples_per_warp) {
    const unsigned int index = first + sample_of_warp;
    DecidedSample sample;
    if (sample_of_warp < samples_per_warp && index < count) {
      sample.load(decision, with_slots, index, lane);
    }
    const T* const x = samples.row(pass.rows.begin + sample.row);
    NearestCentroid nearest;
    for (std::int32_t i = lane; __any_sync(kFullWarp, i < sample.centroids); i += kLanesPerSample) {
      const bool exists = i < sample.centroids;
      const std::int32_t centroid = !exists ? 0 : sample.candidate < 0 ? i : sample.candidate;
      const double distance = distances[threadIdx.x / 32].evaluate(
          samples, exists, x, pass.centroids + centroid * samples.features);
      if (exists) nearest.update(distance, centroid);
    }
    nearest.reduce(kLanesPerSample);
    const bool stores = sample.decides && lane == 0;
    if (store_label(decision, sample.row, sample.former, nearest.label, stores)) ++changed;
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
