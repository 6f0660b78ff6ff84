// Compiled once for each instruction set; the best one for the machine is chosen when it runs.
#include "row_screen.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "row_screen.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "leading-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

// Samples at once times centroids at once: many centroids, since these are read from the first
// cache again and again.
constexpr std::size_t kRows = kRowsAhead;
constexpr std::size_t kFew = kManyRegisters ? 10 : 4;
using RowTag = hn::CappedTag<float, kLeastRowFeatures>;

// Dot products of kRows samples with Count centroids, to rows of `scores` from c on; also the
// samples' squared norms where they are wanted: then the samples are read for the first time, and
// the next ones are asked for. They come too late otherwise.
template <std::size_t Count, bool kNorms>
HWY_INLINE void products(const float* const* samples, std::size_t d, const RowCentroids& centroids,
                         std::size_t c, std::size_t lane, TileRow<float>* scores,
                         TileRow<float>& norms) {
  const RowTag tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto padded = static_cast<std::size_t>(padded_features(static_cast<std::int64_t>(d)));
  const float* factors = centroids.factors + c * padded;
  hn::Vec<RowTag> sums[kRows][Count], squares[kRows];
  unroll<kRows>([&](auto r) HWY_ATTR {
    squares[r] = hn::Zero(tag);
    unroll<Count>([&](auto i) HWY_ATTR { sums[r][i] = hn::Zero(tag); });
  });
  const auto add = [&](std::size_t j, auto&& only) HWY_ATTR __attribute__((always_inline)) {
    const auto origin = hn::LoadU(tag, centroids.origin + j);
    hn::Vec<RowTag> y[kRows];
    unroll<kRows>([&](auto r) HWY_ATTR {
      y[r] = only(hn::Sub(hn::LoadU(tag, samples[r] + j), origin));
      if constexpr (kNorms) {
        constexpr int kRead = 0, kSecondCache = 2;
        __builtin_prefetch(samples[kRows + r] + j, kRead, kSecondCache);
        squares[r] = hn::MulAdd(y[r], y[r], squares[r]);
      }
    });
    unroll<Count>([&](auto i) HWY_ATTR {
      const auto factor = hn::LoadU(tag, factors + i * padded + j);
      unroll<kRows>([&](auto r) HWY_ATTR { sums[r][i] = hn::MulAdd(y[r], factor, sums[r][i]); });
    });
  };
  std::size_t j = 0;
  for (; j + lanes <= d; j += lanes) add(j, [](auto y) HWY_ATTR { return y; });
  if (j < d) {
    // The last vector overlaps the one before: those features are not counted again.
    const std::size_t first = d - lanes;
    const auto again = hn::FirstN(tag, j - first);
    add(first, [&](auto y) HWY_ATTR { return hn::IfThenZeroElse(again, y); });
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t i = 0; i < Count; ++i) {
      scores[c + i].lanes[lane + r] =
          hn::GetLane(hn::SumOfLanes(tag, sums[r][i])) + centroids.squared_norms[c + i];
    }
    if constexpr (kNorms) norms.lanes[lane + r] = hn::GetLane(hn::SumOfLanes(tag, squares[r]));
  }
}

template <std::size_t Count>
HWY_INLINE void rest_of_products(const float* const* samples, std::size_t d,
                                 const RowCentroids& centroids, std::size_t c, std::size_t lane,
                                 TileRow<float>* scores, TileRow<float>& norms) {
  if constexpr (Count > 0) {
    if (static_cast<std::size_t>(centroids.clusters) - c != Count) {
      rest_of_products<Count - 1>(samples, d, centroids, c, lane, scores, norms);
    } else if (c == 0) {
      products<Count, true>(samples, d, centroids, c, lane, scores, norms);
    } else {
      products<Count, false>(samples, d, centroids, c, lane, scores, norms);
    }
  }
}

std::int64_t row_chain_in(std::int64_t d) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(RowTag()));
  return (d + lanes - 1) / lanes + std::bit_width(static_cast<std::uint64_t>(lanes)) + 1;
}

void screen_rows_in(const float* const* samples, std::int64_t features,
                    const RowCentroids& centroids, const std::int32_t* former,
                    TileLabels& nearest) {
  const auto d = static_cast<std::size_t>(features);
  const auto k = static_cast<std::size_t>(centroids.clusters);
  TileRow<float> scores[kMostRowClusters];
  TileRow<float> norms;
  for (std::size_t lane = 0; lane < kTile; lane += kRows) {
    std::size_t c = 0;
    if (k >= kFew) {
      products<kFew, true>(samples + lane, d, centroids, 0, lane, scores, norms);
      c = kFew;
    }
    for (; c + kFew <= k; c += kFew) {
      products<kFew, false>(samples + lane, d, centroids, c, lane, scores, norms);
    }
    rest_of_products<kFew - 1>(samples + lane, d, centroids, c, lane, scores, norms);
  }

  const Tag<float> tag;
  nearest.undecided = 0;
  for (std::size_t first = 0; first < kTile; first += kVectors * hn::Lanes(tag)) {
    Leading<float> leading;
    Vector<float> of_norms[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t at = first + v * hn::Lanes(tag);
      of_norms[v] = hn::Load(tag, norms.lanes + at);
      for (std::size_t c = 0; c < k; ++c) {
        leading.offer(v, c, hn::Load(tag, scores[c].lanes + at));
      }
    }
    leading.finish(first, of_norms, centroids.limit, nearest);
  }
  find_changed(former, nearest);
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lloyd_openmp {

HWY_EXPORT(row_chain_in);
HWY_EXPORT(screen_rows_in);

std::int64_t row_chain(InstructionSet set, std::int64_t d) {
  return LLOYD_DISPATCH(set, row_chain_in)(d);
}

void screen_rows(InstructionSet set, const float* const* samples, std::int64_t d,
                 const RowCentroids& centroids, const std::int32_t* former, TileLabels& nearest) {
  LLOYD_DISPATCH(set, screen_rows_in)(samples, d, centroids, former, nearest);
}

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
