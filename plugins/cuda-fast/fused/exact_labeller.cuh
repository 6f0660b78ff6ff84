// ExactLabeller: proves labels by scores in float32, and decides the others by the definition.
#pragma once

#include <cfloat>
#include <cstdint>

#include "cuda-fast/conversions/rounded_form.cuh"
#include "cuda-fast/decisions/decisions.cuh"
#include "cuda-fast/fused/fused_plan.hpp"
#include "cuda-fast/screens/lowest_scores.cuh"
#include "cuda/fused/fused_pass.cuh"
#include "cuda/passes/distance.cuh"

namespace lloyd_cuda_fast {

using lloyd_cuda::Pass;
using lloyd_cuda::Samples;
using lloyd_cuda_fused::kRows;

/// Arguments of an ExactLabeller that do not change during a fit.
struct ExactLabellerArguments {
  FusedUnits units;
  const double* origin = nullptr;           ///< d, device memory: DeviceUnits::origin
  unsigned long long* fallbacks = nullptr;  ///< DecisionArguments::fallbacks
};

/// A labeller (cuda/fused/fused_pass.cuh) for row-major samples. `D`: features held in registers.
/// `Padded`: d <= D is known only at run time; features d to D - 1 are zeros.
template <class T, int D, bool Padded>
class ExactLabeller {
 public:
  using Value = T;
  using Arguments = ExactLabellerArguments;
  static constexpr int kFeatures = Padded ? 0 : D;
  // With more threads, those with many features have too few registers.
  static constexpr int kMaxThreads = D >= 8 ? 512 : lloyd_cuda_fused::kMaxBlockThreads;

  __device__ ExactLabeller(const Arguments& arguments, std::int64_t clusters, std::int64_t features,
                           void* shared)
      : arguments_(arguments),
        features_(Padded ? static_cast<int>(features) : D),
        scale_(static_cast<float>(arguments.units.scale)),
        state_(*static_cast<LabellerState*>(shared)),
        table_{reinterpret_cast<float*>(static_cast<LabellerState*>(shared) + 1),
               static_cast<int>(clusters)} {
    if (threadIdx.x >= kFusedMaxFeatures) return;
    const double origin =
        static_cast<int>(threadIdx.x) < features_ ? arguments.origin[threadIdx.x] : 0;
    state_.origin[threadIdx.x] = origin;
    state_.offset[threadIdx.x] = static_cast<float>(-origin * arguments.units.scale);
  }

  __device__ void load(const Pass& pass) { load(pass.centroids); }
  // Fills the table and the state. The centroids (k x d, in global or shared memory) must stay
  // valid until the last label().
  __device__ void load(const double* centroids) {
    centroids_ = centroids;
    if (threadIdx.x == 0) {
      state_.norms = {};
      state_.largest_centroid = 0;
    }
    __syncthreads();
    CentroidNorms norms;
    float largest = 0;
    for (int c = static_cast<int>(threadIdx.x); c < table_.rows();
         c += static_cast<int>(blockDim.x)) {
      if (c < table_.clusters) {
        add_centroid(c, norms, largest);
      } else {
        add_padding(c);
      }
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      norms.raise({__shfl_xor_sync(kFullWarp, norms.residual_ratio, offset),
                   __shfl_xor_sync(kFullWarp, norms.bias_residual, offset), 0,
                   __shfl_xor_sync(kFullWarp, norms.has_far, offset)});
      largest = fmaxf(largest, __shfl_xor_sync(kFullWarp, largest, offset));
    }
    if (threadIdx.x % 32 == 0) {
      raise_maximum(state_.norms, norms);
      raise_maximum(&state_.largest_centroid, largest);
    }
    __syncthreads();
    has_far_ = state_.norms.has_far != 0;
    const ScreenError error = error_of(arguments_.units.largest_norm);
    margin_ = 2 * kBoundSlack * error.for_centroids(state_.largest_centroid);
    if (has_far_) margin_ = HUGE_VALF;
  }

  __device__ __forceinline__ void label(const Samples<T>& samples,
                                        const std::int64_t (&rows)[kRows],
                                        const bool (&in_range)[kRows],
                                        std::int32_t (&labels)[kRows]) {
    Sample y[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) read(samples.row(rows[r]), y[r].values);
    LowestScores lowest[kRows];
    if constexpr (kByGroups) {
      score_groups(y, lowest);
    } else {
      score_rows(y, lowest);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      labels[r] = lowest[r].nearest;
      if (lowest[r].second - lowest[r].best > margin_ || !in_range[r]) continue;
      const ScreenError error = error_of_sample(y[r].values);
      const bool is_far = has_far_ && is_far_centroid(lowest[r].nearest);
      if (!is_far && proves_label(lowest[r].best, lowest[r].second, error)) continue;
      const float limit = is_far ? HUGE_VALF : candidate_limit(lowest[r].best, error);
      labels[r] = decide(samples, rows[r], table_, centroids_, y[r], limit);
      ++fallbacks_;
    }
  }

  __device__ void finish() {
    const unsigned int fallbacks = lloyd_cuda_fused::sum_of_warp(fallbacks_);
    if (threadIdx.x % 32 == 0 && fallbacks != 0) {
      atomicAdd(arguments_.fallbacks, static_cast<unsigned long long>(fallbacks));
    }
  }

 private:
  static constexpr bool kBiasInRow = D <= 3;
  static constexpr int kStride = table_row_floats(D);

  // The table of centroids in shared memory: groups of kTableGroupRows rows of kStride values with
  // -2 e', and zeros beyond d. The last value of a row is the bias if kBiasInRow; otherwise the
  // biases follow the groups. Rows beyond the last centroid have a bias above all scores.
  struct Table {
    float* values;
    int clusters;

    __device__ int rows() const {
      return (clusters + kTableGroupRows - 1) / kTableGroupRows * kTableGroupRows;
    }
    // Row `i` of the group that begins with centroid `first`.
    __device__ float* row_of(int first, int i) const {
      return values + first / kTableGroupRows * table_group_floats(D) + i * kStride;
    }
    __device__ float& bias_of(int first, int i) const {
      if (kBiasInRow) return row_of(first, i)[kStride - 1];
      return values[rows() / kTableGroupRows * table_group_floats(D) + first + i];
    }
    // Returns the bias.
    __device__ __forceinline__ float read(int first, int i, float (&row)[kStride]) const {
      const float* const from = row_of(first, i);
      if constexpr (kStride == 2) {
        const float2 two = *reinterpret_cast<const float2*>(from);
        row[0] = two.x;
        row[1] = two.y;
      } else {
#pragma unroll
        for (int j = 0; j < kStride; j += 4) {
          const float4 four = *reinterpret_cast<const float4*>(from + j);
          row[j] = four.x;
          row[j + 1] = four.y;
          row[j + 2] = four.z;
          row[j + 3] = four.w;
        }
      }
      return kBiasInRow ? row[kStride - 1] : bias_of(first, i);
    }
  };
  // A sample in units of the screen.
  struct Sample {
    float values[D];
  };
  __device__ __forceinline__ static float score_of(const float (&y)[D],
                                                   const float (&values)[kStride], float bias) {
    float score = bias;
#pragma unroll
    for (int j = 0; j < D; ++j) score = fmaf(y[j], values[j], score);
    return score;
  }

  // The lowest scores of samples. With few features, it pays to find the lowest score of every
  // group first, and to score the centroids of the lowest group again.
  static constexpr bool kByGroups = D <= 4;
  __device__ __forceinline__ void score_rows(const Sample (&y)[kRows],
                                             LowestScores (&lowest)[kRows]) const {
    for (int first = 0; first < table_.clusters; first += kTableGroupRows) {
#pragma unroll 2
      for (int i = 0; i < kTableGroupRows; ++i) {
        float values[kStride];
        const float bias = table_.read(first, i, values);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          lowest[r].update(score_of(y[r].values, values, bias), first + i);
        }
      }
    }
  }
  __device__ __forceinline__ void score_groups(const Sample (&y)[kRows],
                                               LowestScores (&lowest)[kRows]) const {
    LowestScores groups[kRows];
    for (int first = 0; first < table_.clusters; first += kTableGroupRows) {
      float best_of_group[kRows];
#pragma unroll
      for (int i = 0; i < kTableGroupRows; ++i) {
        float values[kStride];
        const float bias = table_.read(first, i, values);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          const float score = score_of(y[r].values, values, bias);
          best_of_group[r] = i == 0 ? score : fminf(best_of_group[r], score);
        }
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) groups[r].update(best_of_group[r], first);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int i = 0; i < kTableGroupRows; ++i) {
        float values[kStride];
        const float bias = table_.read(groups[r].nearest, i, values);
        lowest[r].update(score_of(y[r].values, values, bias), groups[r].nearest + i);
      }
      lowest[r].second = fminf(lowest[r].second, groups[r].second);
    }
  }

  __device__ double centroid_in_units(int c, int j) const {
    return (centroids_[c * features_ + j] - state_.origin[j]) * arguments_.units.scale;
  }
  // Adds a centroid to the table, and raises the norms to its own.
  __device__ void add_centroid(int c, CentroidNorms& norms, float& largest) const {
    const int i = c % kTableGroupRows;
    float* const row = table_.row_of(c - i, i);
    RoundedForm form;
    double squared = 0;
#pragma unroll
    for (int j = 0; j < D; ++j) {
      const double value = j < features_ ? centroid_in_units(c, j) : 0;
      const float rounded = clamped_single(value);
      row[j] = -2 * rounded;
      form.add(value, static_cast<double>(rounded), !(fabs(value) <= kMaxSingle));
      squared += value * value;
    }
    if constexpr (D == 2) row[2] = 0;  // not used
    table_.bias_of(c - i, i) = static_cast<float>(form.squared_norm(squared));
    form.raise_norms(norms, squared, kSingleUnderflow, arguments_.units.underflow);
    raise_local_maximum(largest, sqrt(squared) * kMargin);
  }
  __device__ void add_padding(int c) const {
    const int i = c % kTableGroupRows;
    float* const row = table_.row_of(c - i, i);
#pragma unroll
    for (int j = 0; j < kStride; ++j) row[j] = 0;
    table_.bias_of(c - i, i) = FLT_MAX / 2;
  }
  __device__ bool is_far_centroid(int c) const {
    bool is_far = false;
    for (int j = 0; j < features_; ++j) is_far |= !(fabs(centroid_in_units(c, j)) <= kMaxSingle);
    return is_far;
  }

  // Feature j of a sample in units of the screen (BOUND.md, after step 10).
  __device__ __forceinline__ float in_units(float value, int j) const {
    return fmaf(value, scale_, state_.offset[j]);
  }
  __device__ __forceinline__ float in_units(double value, int j) const {
    return static_cast<float>((value - state_.origin[j]) * arguments_.units.scale);
  }
  __device__ __forceinline__ void read(const T* from, float (&y)[D]) const {
    T x[D];
    constexpr bool kFloat = sizeof(T) == sizeof(float);
    if constexpr (!Padded && kFloat && D % 4 == 0) {
#pragma unroll
      for (int j = 0; j < D; j += 4) {
        const float4 four = __ldg(reinterpret_cast<const float4*>(from + j));
        x[j] = four.x;
        x[j + 1] = four.y;
        x[j + 2] = four.z;
        x[j + 3] = four.w;
      }
    } else if constexpr (!Padded && kFloat && D == 2) {
      const float2 two = __ldg(reinterpret_cast<const float2*>(from));
      x[0] = two.x;
      x[1] = two.y;
    } else {
#pragma unroll
      for (int j = 0; j < D; ++j) x[j] = !Padded || j < features_ ? from[j] : T{0};
    }
    if (arguments_.units.in_float32) {
#pragma unroll
      for (int j = 0; j < D; ++j) y[j] = !Padded || j < features_ ? in_units(x[j], j) : 0;
    } else {
#pragma unroll
      for (int j = 0; j < D; ++j) {
        y[j] = !Padded || j < features_ ? in_units(static_cast<double>(x[j]), j) : 0;
      }
    }
  }

  __device__ ScreenError error_of(float norm) const {
    return ScreenError::of_values(norm, state_.norms, features_);
  }
  __device__ ScreenError error_of_sample(const float (&y)[D]) const {
    float squared = 0;
#pragma unroll
    for (int j = 0; j < D; ++j) squared = fmaf(y[j], y[j], squared);
    return error_of(rounded_up_norm(squared, features_));
  }

  // The label of a row by the definition, among the centroids with scores of at most `limit` (all
  // of them if it is NaN). Not inlined, so that the loop over centroids keeps its registers.
  __device__ __noinline__ static std::int32_t decide(Samples<T> samples, std::int64_t row,
                                                     Table table, const double* centroids, Sample y,
                                                     float limit) {
    NearestCentroid nearest;
    for (int c = 0; c < table.clusters; ++c) {
      float values[kStride];
      const float bias = table.read(c - c % kTableGroupRows, c % kTableGroupRows, values);
      if (score_of(y.values, values, bias) > limit) continue;
      const double* const centroid = centroids + c * samples.features;
      nearest.update(lloyd_cuda::exact_distance(samples, row, centroid), c);
    }
    return nearest.label;
  }

  const Arguments& arguments_;
  int features_;
  float scale_;
  LabellerState& state_;
  Table table_;
  const double* centroids_ = nullptr;  // k x d
  bool has_far_ = false;               // a centroid is beyond the range of the screen
  // A label is proven if the two lowest scores of the sample differ by more than this.
  float margin_ = 0;
  unsigned int fallbacks_ = 0;  // labels that this thread has decided by the definition
};

}  // namespace lloyd_cuda_fast
