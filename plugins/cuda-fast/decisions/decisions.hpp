// Decisions: turns scores into proven labels, and decides open samples by the definition.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda-fast/common/error_bound.hpp"
#include "cuda/passes/pass.hpp"

namespace lloyd_cuda_fast {

/// The two lowest scores of each sample in each part. Scores are packed: their low bits were
/// replaced by an index, see BOUND.md.
struct Summaries {
  float* best = nullptr;            ///< per part and row: the lowest score
  float* second = nullptr;          ///< the lowest score of the other centroids
  std::int32_t* nearest = nullptr;  ///< the centroid of the lowest score
  std::int64_t stride = 0;          ///< rows from one part to the next
};

/// A sample whose label the screen does not prove is open. Its candidates are the centroids that
/// may be nearest.
struct OpenSamples {
  static constexpr int kMaxCandidates = 8;

  unsigned int* count = nullptr;  ///< number of open samples
  std::int32_t* rows = nullptr;   ///< per slot: the row, relative to the slab
  float* limits = nullptr;        ///< per slot: a candidate's score is at most this
  /// Per slot: number of candidates; those beyond kMaxCandidates are not kept.
  unsigned int* candidate_counts = nullptr;
  std::int32_t* candidates = nullptr;  ///< per slot: kMaxCandidates centroids
  unsigned int capacity = 0;           ///< number of slots; open samples beyond it overflow
};

/// The samples of a slab whose label has changed, in any order.
struct ChangedSamples {
  unsigned int* count = nullptr;   ///< null: changed samples are not listed
  std::int32_t* rows = nullptr;    ///< relative to the slab
  std::int32_t* former = nullptr;  ///< the former label; -1: none
};

/// Rows of a slab, relative to it, in any order.
struct RowList {
  unsigned int* count = nullptr;
  std::int32_t* rows = nullptr;
};

/// Arguments of a decision for the rows of a slab. Pointers are device memory.
struct DecisionArguments {
  lloyd_cuda::Pass pass;  ///< its rows are the slab
  ChangedSamples changed;
  OpenSamples open;  ///< null members: only the direct screen runs
  RowList overflow;  ///< open samples without a slot, or with too many candidates
  RowList hard;      ///< samples that are compared with all centroids
  /// The number of samples that the definition decides is added to it.
  unsigned long long* fallbacks = nullptr;
};

/// The number of slots in use.
LLOYD_HOST_DEVICE inline unsigned int used_slots(const OpenSamples& open) {
  return *open.count < open.capacity ? *open.count : open.capacity;
}

/// Arguments of a classification, which turns the scores of a screened row into a proven label, or
/// adds the row to the open samples.
struct ClassificationArguments {
  DecisionArguments decision;
  const float2* norms = nullptr;             ///< Fragments::norms from the first row of the slab on
  const CentroidNorms* centroids = nullptr;  ///< ConvertedCentroids::image_norms()
  const std::uint8_t* far = nullptr;         ///< ConvertedCentroids::far()
  int steps = 0;                             ///< ScreenShape::steps
};

/// Enqueues the classification of the rows of a slab by the summaries of `parts` parts. The
/// summaries begin `skipped` rows before the slab.
void enqueue_classification(const ClassificationArguments& classification,
                            const Summaries& summaries, int parts, std::int64_t skipped);

/// Enqueues the decision, by the definition in float64, of the open samples among their candidates
/// and of the hard samples among all centroids.
template <class T>
void enqueue_decision(const DecisionArguments& decision, const lloyd_cuda::Samples<T>& samples,
                      int multiprocessors);

}  // namespace lloyd_cuda_fast
