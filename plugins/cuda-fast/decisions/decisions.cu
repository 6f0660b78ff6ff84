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

// Blocks of classification_kernel that a multiprocessor has registers for.
constexpr int kClassificationBlocksPerMultiprocessor = 4;
// Rows that a thread classifies at a time.
constexpr int kRowsPerThread = 4;
constexpr int kBlockRows = kThreads * kRowsPerThread;

// The two lowest scores of rows threadIdx.x + r kThreads over all parts, and the centroids of the
// lowest.
struct LoadedScores {
  float best[kRowsPerThread];
  float second[kRowsPerThread];
  std::int32_t nearest[kRowsPerThread];

  // `at[r]`: the row in `summaries`.
  __device__ __forceinline__ void load(const Summaries& summaries, int parts,
                                       const std::int32_t (&at)[kRowsPerThread]) {
    int part_of_best[kRowsPerThread] = {};
#pragma unroll
    for (int r = 0; r < kRowsPerThread; ++r) {
      best[r] = summaries.best[at[r]];
      second[r] = summaries.second[at[r]];
    }
    for (int part = 1; part < parts; ++part) {
      const float* const bests = summaries.best + part * summaries.stride;
      const float* const seconds = summaries.second + part * summaries.stride;
#pragma unroll
      for (int r = 0; r < kRowsPerThread; ++r) {
        const float other = bests[at[r]];
        second[r] = fminf(fminf(second[r], seconds[at[r]]), fmaxf(best[r], other));
        if (other < best[r]) {
          best[r] = other;
          part_of_best[r] = part;
        }
      }
    }
#pragma unroll
    for (int r = 0; r < kRowsPerThread; ++r) {
      nearest[r] = summaries.nearest[part_of_best[r] * summaries.stride + at[r]];
    }
  }
};

// What a block lists of the rows that it classifies at a time.
struct ListedRows {
  unsigned int counts;         // open rows << 16 | changed rows
  unsigned int reserved;       // the final `counts`
  unsigned int first_changed;  // reserved positions in the lists of the slab
  unsigned int first_open;
  std::int32_t open[kBlockRows];
  float best[kBlockRows];  // of open rows; infinite: all centroids are candidates
};
static_assert(kBlockRows < 1 << 16);

// Stores the open rows of a block. The limits of candidates take some arithmetic: consecutive lanes
// compute those of consecutive open rows, however few of all rows are open.
__device__ void store_open_rows(const ClassificationArguments& classification,
                                const ScreenError& errors, const ListedRows& listed) {
  const DecisionArguments& decision = classification.decision;
  const unsigned int count = listed.reserved >> 16;
  // Rounded up, so that all lanes of a warp reach add_row().
  for (unsigned int i = threadIdx.x; i < (count + 31) / 32 * 32; i += kThreads) {
    const bool exists = i < count;
    const std::int32_t row = listed.open[exists ? i : 0];
    const unsigned int slot = listed.first_open + i;
    const bool has_slot = exists && slot < decision.open.capacity;
    if (has_slot) {
      const float best = listed.best[i];
      const float2 norms = classification.norms[row];
      decision.open.rows[slot] = row;
      decision.open.limits[slot] =
          best < HUGE_VALF ? candidate_limit(best, errors.of_sample(norms.x, norms.y)) : FLT_MAX;
      decision.open.candidate_counts[slot] = 0;
    }
    add_row(decision.overflow, row, exists && !has_slot);
  }
}

// `skipped`: rows of the first tile that precede the slab.
__global__ void __launch_bounds__(kThreads, kClassificationBlocksPerMultiprocessor)
    classification_kernel(ClassificationArguments classification, std::int64_t skipped, int parts,
                          Summaries summaries) {
  __shared__ ListedRows listed;
  const DecisionArguments& decision = classification.decision;
  const Pass& pass = decision.pass;
  const CentroidNorms centroids = *classification.centroids;
  if (threadIdx.x == 0) listed.counts = 0;
  if (lloyd_cuda::block_halted(pass.halt)) return;
  const ScreenError errors = ScreenError::of_image(0, 0, centroids, classification.steps);
  const auto rows = static_cast<std::int32_t>(pass.rows.size());
  const auto clusters = static_cast<std::int32_t>(pass.clusters);
  std::int32_t* const labels = pass.labels + pass.rows.begin;
  const unsigned int lanes_before = (1u << threadIdx.x % 32) - 1;
  unsigned int changed = 0;  // of the block, in thread 0
  for (std::int32_t begin = static_cast<std::int32_t>(blockIdx.x) * kBlockRows; begin < rows;
       begin += static_cast<std::int32_t>(gridDim.x) * kBlockRows) {
    const std::int32_t first = begin + static_cast<std::int32_t>(threadIdx.x);
    std::int32_t at[kRowsPerThread];
    std::int32_t former[kRowsPerThread];
    float2 norms[kRowsPerThread];
#pragma unroll
    for (int r = 0; r < kRowsPerThread; ++r) {
      const std::int32_t row = min(first + r * kThreads, rows - 1);
      at[r] = static_cast<std::int32_t>(skipped) + row;
      former[r] = labels[row];
      norms[r] = classification.norms[row];
    }
    LoadedScores scores;
    scores.load(summaries, parts, at);
    unsigned int changed_lanes[kRowsPerThread];
    unsigned int open_lanes[kRowsPerThread];
    bool is_centroid[kRowsPerThread];
    unsigned int counts = 0;  // of the warp, as in ListedRows
#pragma unroll
    for (int r = 0; r < kRowsPerThread; ++r) {
      const std::int32_t row = first + r * kThreads;
      const float best = scores.best[r];
      const float second = scores.second[r];
      const std::int32_t nearest = scores.nearest[r];
      const ScreenError error = errors.of_sample(norms[r].x, norms[r].y);
      // If all centroids are so far from the sample that a column beyond the last one may have the
      // lowest score, or if that may be the score of a far centroid, all of them are candidates.
      is_centroid[r] = best < kMinPaddingScore && nearest < clusters;
      if (centroids.has_far != 0 && is_centroid[r]) {
        is_centroid[r] =
            is_distinct(best, second, error) && (classification.far[nearest] & kFarInImage) == 0;
      }
      const bool exceeds_bound = proves_label_by_one_bound(best, second, error);
      const bool proven = is_centroid[r] && exceeds_bound;
      const bool is_changed = row < rows && proven && former[r] != nearest;
      if (is_changed) labels[row] = nearest;
      changed_lanes[r] = __ballot_sync(kFullWarp, is_changed);
      open_lanes[r] = __ballot_sync(kFullWarp, row < rows && !proven);
      counts += static_cast<unsigned int>(__popc(open_lanes[r])) << 16 |
                static_cast<unsigned int>(__popc(changed_lanes[r]));
    }
    unsigned int position = 0;  // of the warp, as in ListedRows
    if (lanes_before == 0 && counts != 0) position = atomicAdd(&listed.counts, counts);
    position = __shfl_sync(kFullWarp, position, 0);
    unsigned int open_position = position >> 16;
    unsigned int changed_position = position & 0xffff;
#pragma unroll
    for (int r = 0; r < kRowsPerThread; ++r) {
      if ((open_lanes[r] & (lanes_before + 1)) != 0) {
        const unsigned int i =
            open_position + static_cast<unsigned int>(__popc(open_lanes[r] & lanes_before));
        listed.open[i] = first + r * kThreads;
        listed.best[i] = is_centroid[r] ? scores.best[r] : HUGE_VALF;
      }
      open_position += static_cast<unsigned int>(__popc(open_lanes[r]));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      const unsigned int reserved = listed.counts;
      const unsigned int changed_rows = reserved & 0xffff;
      const unsigned int open_rows = reserved >> 16;
      changed += changed_rows;
      listed.counts = 0;
      listed.reserved = reserved;
      if (changed_rows != 0 && decision.changed.count != nullptr) {
        listed.first_changed = atomicAdd(decision.changed.count, changed_rows);
      }
      if (open_rows != 0) listed.first_open = atomicAdd(decision.open.count, open_rows);
    }
    __syncthreads();
    if (decision.changed.count != nullptr) {
#pragma unroll
      for (int r = 0; r < kRowsPerThread; ++r) {
        if ((changed_lanes[r] & (lanes_before + 1)) != 0) {
          const unsigned int i = listed.first_changed + changed_position +
                                 static_cast<unsigned int>(__popc(changed_lanes[r] & lanes_before));
          decision.changed.rows[i] = first + r * kThreads;
          decision.changed.former[i] = former[r];
        }
        changed_position += static_cast<unsigned int>(__popc(changed_lanes[r]));
      }
    }
    store_open_rows(classification, errors, listed);
    __syncthreads();  // the next rows may follow
  }
  if (threadIdx.x == 0 && changed != 0 && pass.changed != nullptr) {
    atomicAdd(pass.changed, static_cast<unsigned long long>(changed));
  }
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

// A sample of decision_kernel, in one of its kLanesPerSample lanes. If the sample has a list of
// candidates, each lane compares it with at most one of them. Otherwise it is compared with all
// centroids, and a lane compares it with every kLanesPerSample-th one.
struct DecidedSample {
  std::int32_t row = 0;         // relative to the slab
  bool decides = false;         // the sample exists, and decision_kernel decides its label
  std::int32_t centroids = 0;   // number of centroids with which it is compared, in all lanes
  std::int32_t candidate = -1;  // the candidate of this lane; -1: there is no list
  std::int32_t former = 0;      // former label

  // `sample`: an index into the open samples with slots, of which there are `with_slots`, followed
  // by the hard samples. `lane`: 0 to kLanesPerSample - 1.
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
  const auto load = [&](unsigned int first) {
    const unsigned int index = first + sample_of_warp;
    DecidedSample sample;
    if (sample_of_warp < samples_per_warp && index < count) {
      sample.load(decision, with_slots, index, lane);
    }
    return sample;
  };
  DecidedSample next = load(warp * samples_per_warp);
  for (unsigned int first = warp * samples_per_warp; first < count;
       first += warps * samples_per_warp) {
    const DecidedSample sample = next;
    next = load(first + warps * samples_per_warp);  // arrives while this sample is compared
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
