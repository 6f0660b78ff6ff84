#include "cuda-fast/decisions/decisions.cuh"

#include <algorithm>

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

// `skipped`: rows of the first tile before the slab.
__global__ void classification_kernel(ClassificationArguments classification, std::int64_t skipped,
                                      int parts, Summaries summaries) {
  const Pass& pass = classification.decision.pass;
  if (lloyd_cuda::block_halted(pass.halt)) return;
  const std::int64_t rows = pass.rows.size();
  const std::int64_t padded = (rows + 31) / 32 * 32;  // so that warps stay complete
  unsigned int changed = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < padded;
       i += static_cast<std::int64_t>(gridDim.x) * kThreads) {
    const bool exists = i < rows;
    const std::int64_t at = skipped + (exists ? i : 0);
    float best = summaries.best[at];
    float second = summaries.second[at];
    std::int32_t nearest = summaries.nearest[at];
    for (int part = 1; part < parts; ++part) {
      const std::int64_t other = part * summaries.stride + at;
      const float other_best = summaries.best[other];
      second = fminf(fminf(second, summaries.second[other]), fmaxf(best, other_best));
      if (other_best < best) {
        best = other_best;
        nearest = summaries.nearest[other];
      }
    }
    changed +=
        classify(classification, static_cast<std::int32_t>(i), exists, best, second, nearest);
  }
  add_block_sum(pass.changed, changed);
}

// The nearest centroid of a row so far, by the definition: of equal distances, the lower index.
struct NearestCentroid {
  double distance;
  std::int32_t label;  // -1: none yet
  __device__ void update(double other, std::int32_t index) {
    if (label < 0 || other < distance || (other == distance && index < label)) {
      distance = other;
      label = index;
    }
  }
};

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
    NearestCentroid nearest{0, -1};
    for (std::int64_t i = lane; i < centroids; i += kLanesPerSample) {
      const std::int32_t centroid =
          candidates != nullptr ? candidates[i] : static_cast<std::int32_t>(i);
      nearest.update(lloyd_cuda::exact_distance(samples, pass.rows.begin + row,
                                                pass.centroids + centroid * samples.features),
                     centroid);
    }
    for (int offset = 1; offset < kLanesPerSample; offset *= 2) {
      const double distance = __shfl_xor_sync(kFullWarp, nearest.distance, offset);
      const std::int32_t label = __shfl_xor_sync(kFullWarp, nearest.label, offset);
      if (label >= 0) nearest.update(distance, label);
    }
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
  const std::int64_t blocks = std::min((pass.rows.size() + kThreads - 1) / kThreads, kMaxBlocks);
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
