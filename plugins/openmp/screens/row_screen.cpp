// Compiled once per instruction set; InstructionSet selects one at run time.
#include "screens/row_screen.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "common/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "screens/row_screen.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "common/row_prefetcher.hpp"
#include "common/vectors-inl.hpp"
#include "screens/screen_results-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

// Samples and centroids per step of the kernel. Their kRows x kBatchCentroids sums fill the
// registers that the operands leave free.
constexpr std::size_t kRows = kInterleavedRows;
constexpr std::size_t kStride = kInterleaveStride;
constexpr std::size_t kBatchCentroids = kManyRegisters ? 10 : 5;
constexpr std::size_t kLine = 64 / sizeof(float);
using RowTag = hn::CappedTag<float, kMinRowFeatures>;

// Keeps an operand of several products in a register; GCC 12 would reload it for each product.
HWY_INLINE void keep_in_register(hn::Vec<RowTag>& vector) {
#if HWY_COMPILER_GCC_ACTUAL && HWY_ARCH_X86
  asm("" : "+v"(vector.raw));
#else
  static_cast<void>(vector);
#endif
}

// Scores Count centroids for kRows samples into scores[c] onwards, and computes the samples'
// squared norms if kNorms. Meanwhile prefetches kPrefetched of the samples that `next` points to.
template <std::size_t Count, bool kNorms, std::size_t kPrefetched>
HWY_INLINE void score_rows(const float* const* samples, const float* const* next, std::size_t d,
                           const RowCentroids& centroids, std::size_t c, std::size_t lane,
                           TileVector<float>* scores, TileVector<float>& norms) {
  const RowTag tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto padded = static_cast<std::size_t>(padded_features(static_cast<std::int64_t>(d)));
  const float* factors = centroids.factors + c * padded;
  hn::Vec<RowTag> sums[kRows][Count], squares[kRows];
  unroll<kRows>([&](auto r) HWY_ATTR {
    squares[r] = hn::Zero(tag);
    unroll<Count>([&](auto i) HWY_ATTR { sums[r][i] = hn::Zero(tag); });
  });
  const auto add = [&](std::size_t j, auto&& mask) HWY_ATTR __attribute__((always_inline)) {
    auto origin = hn::LoadU(tag, centroids.origin + j);
    keep_in_register(origin);
    hn::Vec<RowTag> y[kRows];
    unroll<kRows>([&](auto r) HWY_ATTR {
      y[r] = mask(hn::Sub(hn::LoadU(tag, samples[r] + j), origin));
      if constexpr (kNorms) squares[r] = hn::MulAdd(y[r], y[r], squares[r]);
    });
    unroll<Count>([&](auto i) HWY_ATTR {
      auto factor = hn::LoadU(tag, factors + i * padded + j);
      keep_in_register(factor);
      unroll<kRows>([&](auto r) HWY_ATTR { sums[r][i] = hn::MulAdd(y[r], factor, sums[r][i]); });
    });
  };
  RowPrefetcher<float> prefetcher(next, static_cast<std::int64_t>(d));
  const auto prefetch = [&]() HWY_ATTR __attribute__((always_inline)) {
    unroll<kPrefetched>([&](auto) HWY_ATTR { prefetcher.prefetch_line(); });
  };
  std::size_t j = 0;
  for (; j + kLine <= d; j += kLine) {
    prefetch();
    for (std::size_t v = 0; v < kLine; v += lanes) add(j + v, [](auto y) HWY_ATTR { return y; });
  }
  if (j < d) prefetch();
  for (; j + lanes <= d; j += lanes) add(j, [](auto y) HWY_ATTR { return y; });
  if (j < d) {
    // The last vector overlaps the previous one; features that were already counted are masked out.
    const std::size_t first = d - lanes;
    const auto counted_before = hn::FirstN(tag, j - first);
    add(first, [&](auto y) HWY_ATTR { return hn::IfThenZeroElse(counted_before, y); });
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t i = 0; i < Count; ++i) {
      scores[c + i].lanes[lane + r * kStride] =
          hn::GetLane(hn::SumOfLanes(tag, sums[r][i])) + centroids.squared_norms[c + i];
    }
    if constexpr (kNorms)
      norms.lanes[lane + r * kStride] = hn::GetLane(hn::SumOfLanes(tag, squares[r]));
  }
}

// score_rows() of one batch of centroids. The first batch reads the samples from memory; the first
// two batches share the prefetches of the next samples.
template <std::size_t Count>
HWY_INLINE void score_batch(const float* const* now, const float* const* next, std::size_t d,
                            const RowCentroids& centroids, std::size_t c, std::size_t lane,
                            TileVector<float>* scores, TileVector<float>& norms) {
  const auto k = static_cast<std::size_t>(centroids.clusters);
  if (c == 0 && k == Count) {
    score_rows<Count, true, kRows>(now, next, d, centroids, c, lane, scores, norms);
  } else if (c == 0) {
    score_rows<Count, true, 1>(now, next, d, centroids, c, lane, scores, norms);
  } else if (c <= kBatchCentroids) {
    score_rows<Count, false, 1>(now, next + 1, d, centroids, c, lane, scores, norms);
  } else {
    score_rows<Count, false, 0>(now, next, d, centroids, c, lane, scores, norms);
  }
}

template <std::size_t Count>
HWY_INLINE void score_last_batch(const float* const* now, const float* const* next, std::size_t d,
                                 const RowCentroids& centroids, std::size_t c, std::size_t lane,
                                 TileVector<float>* scores, TileVector<float>& norms) {
  if constexpr (Count > 0) {
    if (static_cast<std::size_t>(centroids.clusters) - c != Count) {
      score_last_batch<Count - 1>(now, next, d, centroids, c, lane, scores, norms);
    } else {
      score_batch<Count>(now, next, d, centroids, c, lane, scores, norms);
    }
  }
}

std::int64_t row_chain_length_in(std::int64_t d) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(RowTag()));
  return (d + lanes - 1) / lanes + std::bit_width(static_cast<std::uint64_t>(lanes)) + 1;
}

void screen_rows_in(const float* const* samples, std::int64_t features,
                    const RowCentroids& centroids, const std::int32_t* former,
                    TileLabels& nearest) {
  const auto d = static_cast<std::size_t>(features);
  const auto k = static_cast<std::size_t>(centroids.clusters);
  TileVector<float> scores[kMaxRowClusters];
  TileVector<float> norms;
  for (std::size_t lane = 0; lane < kStride; ++lane) {
    const float *now[kRows], *next[kRows];
    for (std::size_t r = 0; r < kRows; ++r) {
      now[r] = samples[lane + r * kStride];
      next[r] = samples[lane + 1 < kStride ? lane + 1 + r * kStride : kTile + r];
    }
    std::size_t c = 0;
    for (; c + kBatchCentroids <= k; c += kBatchCentroids) {
      score_batch<kBatchCentroids>(now, next, d, centroids, c, lane, scores, norms);
    }
    score_last_batch<kBatchCentroids - 1>(now, next, d, centroids, c, lane, scores, norms);
  }

  const Tag<float> tag;
  nearest.unproven = 0;
  for (std::size_t first = 0; first < kTile; first += kSampleVectors * hn::Lanes(tag)) {
    LowestTwo<float> best;
    Vector<float> squared_norms[kSampleVectors];
    for (std::size_t v = 0; v < kSampleVectors; ++v) {
      const std::size_t at = first + v * hn::Lanes(tag);
      squared_norms[v] = hn::Load(tag, norms.lanes + at);
      for (std::size_t c = 0; c < k; ++c) {
        best.update(v, c, hn::Load(tag, scores[c].lanes + at));
      }
    }
    best.finish(first, squared_norms, centroids.limit, nearest);
  }
  find_changed(former, nearest);
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lloyd_openmp {

HWY_EXPORT(row_chain_length_in);
HWY_EXPORT(screen_rows_in);

std::int64_t row_chain_length(InstructionSet set, std::int64_t d) {
  return LLOYD_DISPATCH(set, row_chain_length_in)(d);
}

void screen_rows(InstructionSet set, const float* const* samples, std::int64_t d,
                 const RowCentroids& centroids, const std::int32_t* former, TileLabels& nearest) {
  LLOYD_DISPATCH(set, screen_rows_in)(samples, d, centroids, former, nearest);
}

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
