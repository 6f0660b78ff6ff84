// The error bound of LabelScreen.
//
// Symbols. x: a sample; c: a centroid; o: the origin (float64); d: the number of features.
// Y = x - o and E = c - o, exactly; y and e: as computed in float32. R = |Y|; M: the largest |E|.
// u = 2^-24 and v = 2^-53: unit roundoffs of float32 and float64. t = 2^-150: half of the smallest
// subnormal float32 number. Each operation has a relative error of at most its unit roundoff, and
// in float32 an absolute one of at most t if the result underflows (N. J. Higham, "Accuracy and
// Stability of Numerical Algorithms", chapter 3). d <= 2^20 (kMaxFeatures).
//
//  1. |x - c|^2 = |Y|^2 + 2 S with the score S = |E|^2 / 2 - Y.E. The screen computes S in float32,
//     as s.
//  2. Y is rounded to float64 and then to float32: |y_j - Y_j| <= 1.001 u |Y_j| + t. The same holds
//     for e.
//  3. By the Cauchy-Schwarz inequality, |y.e - Y.E| <= 2.01 u R M + 2 t sqrt(d) (R + M) + d t^2.
//  4. The float32 sum y.e: each product passes at most h roundings: one of its own (none if it is
//     fused with its addition) and those of the additions. Features are summed in blocks, so
//     h = min(d, kFeatureBlock) + ceil(d / kFeatureBlock) + 1. As h u < 1/1000, the sum is off by
//     at most 1.01 h u |y| |e| + 2 d t <= 1.02 h u R M + 2 t sqrt(d) (R + M) + 3 d t.
//  5. |E|^2 / 2 is summed in float64 and rounded to float32: its error is at most
//     u M^2 / 2 + (d + 3) v M^2 + 2 t <= 1.01 u M^2 / 2 + 2 t.
//  6. The subtraction contributes at most 1.01 u (M^2 / 2 + R M) + t, as subtractions do not
//     underflow and the terms of steps 3 to 5 change its operands by less than 1 %, or by t terms.
//  7. Together |s - S| <= 1.02 u (h + 4) (R M + M^2 / 2) + 4 t sqrt(d) (R + M) + 8 d t =: B.
//  8. The definition computes D = |x - c|^2 with a relative error of at most 1.01 (d + 2) v and an
//     absolute one of at most d 2^-1074; D <= (R + M)^2.
//  9. Let a and b be centroids with s_b - s_a > L, where
//         L = 2 B + 1.01 (d + 2) v (R + M)^2 + d 2^-1073.
//     Then D_b - D_a = 2 (S_b - S_a) > 2.02 (d + 2) v (R + M)^2 + d 2^-1072, more than the errors
//     of both distances by the definition: b is farther than a, by the definition too. Therefore
//     only centroids with a score of at most L above the lowest one can be the nearest.
// 10. R and M are computed in float64 and rounded up: a factor of 1 + 1e-6 covers their relative
//     errors, 1e-150 the squares that underflow. A factor of 1.01 covers the roundings of L and of
//     the differences that are compared with it.
// 11. Nothing overflows if (R + M)^2 < 2^125; other samples are not screened.
#include "evaluation/label_screen.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lloyd {
namespace {

// Four samples in one SIMD register; every supported machine has 16-byte vectors.
typedef float Lanes __attribute__((vector_size(16)));
typedef std::int32_t LaneIndices __attribute__((vector_size(16)));

constexpr std::int64_t kLanes = 4;
constexpr std::int64_t kVectors = LabelScreen::kTile / kLanes;
constexpr std::int64_t kPanel = 6;  // centroids per panel
constexpr std::int64_t kFeatureBlock = 256;
constexpr std::int64_t kMaxFeatures = std::int64_t{1} << 20;
constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();

using PanelScores = Lanes[kPanel][kVectors];

// Computes the scores of a tile for the centroids of a panel. `factors`: for each feature, kPanel
// values.
using ScorePanel = void (*)(const float* tile, const float* factors, const float* half_squares,
                            std::int64_t d, PanelScores& scores);

void score_panel_by_4(const float* tile, const float* factors, const float* half_squares,
                      std::int64_t d, PanelScores& scores) {
  // 12 sums, 3 factors and one sample vector fill 16 registers.
  constexpr std::int64_t kCentroidRegisters = 3;
  static_assert(kPanel % kCentroidRegisters == 0);
  for (std::int64_t first = 0; first < kPanel; first += kCentroidRegisters) {
    Lanes products[kCentroidRegisters][kVectors] = {};
    for (std::int64_t block = 0; block < d; block += kFeatureBlock) {
      Lanes sums[kCentroidRegisters][kVectors] = {};
      for (std::int64_t j = block; j < std::min(d, block + kFeatureBlock); ++j) {
        for (std::int64_t v = 0; v < kVectors; ++v) {
          Lanes sample;
          std::memcpy(&sample, tile + j * LabelScreen::kTile + v * kLanes, sizeof(Lanes));
          for (std::int64_t c = 0; c < kCentroidRegisters; ++c) {
            sums[c][v] += factors[j * kPanel + first + c] * sample;
          }
        }
      }
      for (std::int64_t c = 0; c < kCentroidRegisters; ++c) {
        for (std::int64_t v = 0; v < kVectors; ++v) products[c][v] += sums[c][v];
      }
    }
    for (std::int64_t c = 0; c < kCentroidRegisters; ++c) {
      for (std::int64_t v = 0; v < kVectors; ++v) {
        scores[first + c][v] = half_squares[first + c] - products[c][v];
      }
    }
  }
}

#if defined(__x86_64__)
// Adds the products of `features` features. A function of its own, since otherwise GCC 12 keeps
// some of the sums in memory.
__attribute__((target("avx2,fma"), noinline)) void add_products_by_8(const float* tile,
                                                                     const float* factors,
                                                                     std::int64_t features,
                                                                     PanelScores& products) {
  constexpr std::int64_t kWidth = 8;
  constexpr std::int64_t kWideVectors = LabelScreen::kTile / kWidth;
  __m256 sums[kPanel][kWideVectors] = {};
  for (std::int64_t j = 0; j < features; ++j, tile += LabelScreen::kTile, factors += kPanel) {
    __m256 samples[kWideVectors];
    for (std::int64_t v = 0; v < kWideVectors; ++v) samples[v] = _mm256_loadu_ps(tile + v * kWidth);
    for (std::int64_t c = 0; c < kPanel; ++c) {
      const __m256 factor = _mm256_set1_ps(factors[c]);
      for (std::int64_t v = 0; v < kWideVectors; ++v) {
        sums[c][v] = _mm256_fmadd_ps(factor, samples[v], sums[c][v]);
      }
    }
  }
  for (std::int64_t c = 0; c < kPanel; ++c) {
    for (std::int64_t v = 0; v < kWideVectors; ++v) {
      auto* const at = reinterpret_cast<float*>(products[c]) + v * kWidth;
      _mm256_storeu_ps(at, _mm256_add_ps(_mm256_loadu_ps(at), sums[c][v]));
    }
  }
}

void score_panel_by_8(const float* tile, const float* factors, const float* half_squares,
                      std::int64_t d, PanelScores& scores) {
  for (std::int64_t c = 0; c < kPanel; ++c) std::fill_n(scores[c], kVectors, Lanes{});
  for (std::int64_t block = 0; block < d; block += kFeatureBlock) {
    add_products_by_8(tile + block * LabelScreen::kTile, factors + block * kPanel,
                      std::min(kFeatureBlock, d - block), scores);
  }
  for (std::int64_t c = 0; c < kPanel; ++c) {
    for (std::int64_t v = 0; v < kVectors; ++v) scores[c][v] = half_squares[c] - scores[c][v];
  }
}
#endif

// The fastest variant that this processor supports. Vectors of 64 bytes are no faster (measured for
// the variant without fused multiply-add).
ScorePanel fastest_score_panel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return score_panel_by_8;
#endif
  return score_panel_by_4;
}

// The lowest score of each lane, its centroid, and the lowest score of the others.
struct TopTwo {
  Lanes first, second;
  LaneIndices centroid;

  void update(Lanes score, std::int32_t c) {
    const LaneIndices lower = score < first;
    const Lanes other = score < second ? score : second;
    second = lower ? first : other;
    first = lower ? score : first;
    centroid = lower ? LaneIndices{c, c, c, c} : centroid;
  }
};

double norm_bound(double squared) {
  return std::sqrt(squared) * (1 + 1e-6) + 1e-150;
}

}  // namespace

LabelScreen::LabelScreen(std::span<const double> centroids, std::int64_t features)
    : features_(features), clusters_(std::ssize(centroids) / features) {
  if (features > kMaxFeatures) return;
  const auto d = static_cast<std::size_t>(features);
  origin_.assign(d, 0);
  for (std::int64_t c = 0; c < clusters_; ++c) {
    const double* centroid = centroids.data() + c * features;
    // A running mean: it overflows only near the end of float64, where nothing is screened.
    for (std::size_t j = 0; j < d; ++j) {
      origin_[j] += (centroid[j] - origin_[j]) / static_cast<double>(c + 1);
    }
  }
  std::vector<double> squares;
  for (std::int64_t c = 0; c < clusters_; ++c) {
    double square = 0;
    for (std::size_t j = 0; j < d; ++j) {
      const double e = centroids[static_cast<std::size_t>(c) * d + j] - origin_[j];
      square += e * e;
    }
    // std::max() would pass over NaN, which the origin is if the centroids are not finite.
    if (!std::isfinite(square)) return;
    squares.push_back(square);
    max_norm_ = std::max(max_norm_, norm_bound(square));
  }
  can_screen_ = limit(0) < std::numeric_limits<double>::infinity();
  if (!can_screen_) return;

  const std::int64_t panels = (clusters_ + kPanel - 1) / kPanel;
  factors_.assign(static_cast<std::size_t>(panels * kPanel) * d, 0);
  half_squares_.assign(static_cast<std::size_t>(panels * kPanel), kFloatInfinity);
  for (std::int64_t c = 0; c < clusters_; ++c) {
    float* factor = factors_.data() + c / kPanel * kPanel * features + c % kPanel;
    for (std::size_t j = 0; j < d; ++j, factor += kPanel) {
      const double e = centroids[static_cast<std::size_t>(c) * d + j] - origin_[j];
      *factor = static_cast<float>(e);
    }
    half_squares_[static_cast<std::size_t>(c)] =
        static_cast<float>(squares[static_cast<std::size_t>(c)] / 2);
  }
}

// L of the proof for a sample with |Y| <= norm; infinity if the sample cannot be screened.
double LabelScreen::limit(double norm) const {
  constexpr double u = 0x1p-24, v = 0x1p-53, t = 0x1p-150;
  const double reach = norm + max_norm_;
  if (!(reach * reach < 0x1p125)) return std::numeric_limits<double>::infinity();
  const auto d = static_cast<double>(features_);
  const std::int64_t blocks = (features_ + kFeatureBlock - 1) / kFeatureBlock;
  const auto h = static_cast<double>(std::min(features_, kFeatureBlock) + blocks + 1);
  const double score_error = 1.02 * u * (h + 4) * (norm * max_norm_ + max_norm_ * max_norm_ / 2) +
                             4 * t * std::sqrt(d) * reach + 8 * d * t;
  return 1.01 * (2 * score_error + 1.01 * (d + 2) * v * reach * reach + d * 0x1p-1073);
}

// Values of samples that cannot be screened, and those of missing ones, are zero.
template <class T>
void LabelScreen::load(const T* const* rows, std::int64_t count, Workspace& workspace) const {
  workspace.values.assign(static_cast<std::size_t>(features_ * kTile), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    double square = 0;
    for (std::int64_t j = 0; j < features_; ++j) {
      const double y = static_cast<double>(rows[i][j]) - origin_[static_cast<std::size_t>(j)];
      square += y * y;
    }
    workspace.norms[i] = norm_bound(square);
    workspace.findings[i].screened =
        limit(workspace.norms[i]) < std::numeric_limits<double>::infinity();
    if (!workspace.findings[i].screened) continue;
    float* value = workspace.values.data() + i;
    for (std::int64_t j = 0; j < features_; ++j, value += kTile) {
      const double y = static_cast<double>(rows[i][j]) - origin_[static_cast<std::size_t>(j)];
      *value = static_cast<float>(y);
    }
  }
}

template <class T>
void LabelScreen::screen(const T* const* rows, std::int64_t count, Workspace& workspace) const {
  for (std::int64_t i = 0; i < count; ++i) workspace.findings[i] = {};
  if (!can_screen_) return;
  load(rows, count, workspace);

  TopTwo lowest[kVectors];
  for (TopTwo& vector : lowest) {
    vector.first = Lanes{kFloatInfinity, kFloatInfinity, kFloatInfinity, kFloatInfinity};
    vector.second = vector.first;
    vector.centroid = LaneIndices{};
  }
  static const ScorePanel score_panel = fastest_score_panel();
  PanelScores scores;
  const float* tile = workspace.values.data();
  for (std::int64_t first = 0; first < clusters_; first += kPanel) {
    score_panel(tile, factors_.data() + first * features_, half_squares_.data() + first, features_,
                scores);
    for (std::int64_t c = 0; c < kPanel; ++c) {
      for (std::int64_t v = 0; v < kVectors; ++v) {
        lowest[v].update(scores[c][v], static_cast<std::int32_t>(first + c));
      }
    }
  }

  // Centroids with a score of at most this are candidates.
  Lanes thresholds[kVectors];
  bool any_open = false;
  for (std::int64_t i = 0; i < kTile; ++i) {
    float threshold = -kFloatInfinity;
    if (i < count && workspace.findings[i].screened) {
      const double best = lowest[i / kLanes].first[i % kLanes];
      const double limit = this->limit(workspace.norms[i]);
      if (lowest[i / kLanes].second[i % kLanes] - best > limit) {
        workspace.findings[i].candidates = {lowest[i / kLanes].centroid[i % kLanes]};
      } else {
        threshold = std::nextafter(static_cast<float>(best + limit), kFloatInfinity);
        any_open = true;
      }
    }
    thresholds[i / kLanes][i % kLanes] = threshold;
  }
  if (!any_open) return;
  for (std::int64_t first = 0; first < clusters_; first += kPanel) {
    score_panel(tile, factors_.data() + first * features_, half_squares_.data() + first, features_,
                scores);
    for (std::int64_t c = 0; c < kPanel && first + c < clusters_; ++c) {
      for (std::int64_t i = 0; i < kTile; ++i) {
        if (scores[c][i / kLanes][i % kLanes] > thresholds[i / kLanes][i % kLanes]) continue;
        workspace.findings[i].candidates.push_back(static_cast<std::int32_t>(first + c));
      }
    }
  }
}

template void LabelScreen::screen(const float* const*, std::int64_t, Workspace&) const;
template void LabelScreen::screen(const double* const*, std::int64_t, Workspace&) const;

}  // namespace lloyd
