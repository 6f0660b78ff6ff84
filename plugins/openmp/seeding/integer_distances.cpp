// Compiled once per instruction set; InstructionSet selects one at run time.
#include "seeding/integer_distances.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "common/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "seeding/integer_distances.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "common/vectors-inl.hpp"
#include "screens/integer_products-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

// Sets limits[i] to a score such that every score up to it proves a squared distance of at least
// squared_distances[i]. Derivation and symbols: docs/design/openmp/exactness.md, section 4, steps 5
// to 7.
void find_limits(const IntegerTile& tile, std::int64_t rows, std::int64_t features,
                 const IntegerCentroids& centroids, const double* squared_distances,
                 std::int32_t (&limits)[kTile]) {
  constexpr double u = std::numeric_limits<float>::epsilon() / 2;
  constexpr double v = std::numeric_limits<double>::epsilon() / 2;
  constexpr double kLowest = std::numeric_limits<std::int32_t>::min();
  constexpr double kHighest = std::numeric_limits<std::int32_t>::max();
  const auto d = static_cast<double>(features);
  const double sigma = tile.unit, l = centroids.norm, p = centroids.residual;
  const double half_unit = 0.5 / (sigma * centroids.unit);
  const double squared_radius = centroids.radius * centroids.radius;
  const double norm_factor = 1 - (d + 20) * u;
  const double distance_factor = 1 + 2 * (d + 3) * v;
  const double residual_error = IntegerScreen::kSlack * (l + p) / sigma;
  const double norm_error = IntegerScreen::kSlack * (4 * u * (l + p) + p) / sigma;
  constexpr double kRounding = 4;
  for (std::int64_t i = 0; i < rows; ++i) {
    const double norm = tile.norms->lanes[i], residual = tile.residuals->lanes[i];
    const double score =
        (norm * norm * norm_factor + squared_radius - squared_distances[i] * distance_factor) *
        half_unit;
    const double limit = score - residual * residual_error - norm * norm_error - kRounding;
    limits[i] = static_cast<std::int32_t>(std::min(std::max(limit, kLowest), kHighest));
  }
  std::fill(limits + rows, limits + kTile, std::numeric_limits<std::int32_t>::max());
}

// Sets the bits of `below` whose scores exceed the limits, for a panel of Count centroids. A
// separate flattened function, as score_panels() in integer_screen.cpp: otherwise GCC 12 keeps sums
// in memory.
template <std::size_t Count>
HWY_NOINLINE HWY_FLATTEN void compare_panel(const PairLine* pairs, std::size_t pair_count,
                                            const std::int32_t* panel, const std::int32_t* offsets,
                                            const std::int32_t* limits, std::uint64_t* below) {
  const IntTag tag;
  const std::size_t lanes = hn::Lanes(tag);
  constexpr std::size_t kSections =
      std::max<std::size_t>(1, kSampleRegisters * hn::MaxLanes(tag) / kPairLanes);
  for (std::size_t first = 0; first < kTile; first += kSampleRegisters * lanes) {
    const std::int32_t* values[kSampleRegisters];
    IntVector scores[Count][kSampleRegisters];
    unroll<kSampleRegisters>(
        [&](auto r) HWY_ATTR { values[r] = pairs_of_lane(pairs, pair_count, first + r * lanes); });
    unroll<Count>([&](auto i) HWY_ATTR {
      unroll<kSampleRegisters>([&](auto r) HWY_ATTR { scores[i][r] = hn::Set(tag, offsets[i]); });
    });
    for (std::size_t pair = 0; pair < pair_count; ++pair) {
      IntVector q[kSampleRegisters];
      unroll<kSampleRegisters>([&](auto r) HWY_ATTR {
        q[r] = hn::Load(tag, values[r]);
        // The same cache line, kSections sections ahead.
        __builtin_prefetch(values[r] + kSections * pair_count * kPairLanes);
        values[r] += kPairLanes;
      });
      unroll<Count>([&](auto i) HWY_ATTR {
        const IntVector p = hn::Set(tag, panel[pair * Count + i]);
        unroll<kSampleRegisters>(
            [&](auto r) HWY_ATTR { scores[i][r] = add_dot_products(scores[i][r], q[r], p); });
      });
    }
    unroll<Count>([&](auto i) HWY_ATTR {
      unroll<kSampleRegisters>([&](auto r) HWY_ATTR {
        const std::size_t at = first + r * lanes;
        const auto above = hn::Gt(scores[i][r], hn::Load(tag, limits + at));
        if (HWY_LIKELY(hn::AllFalse(tag, above))) return;
        below[i] |= bits_of(tag, above) << at;
      });
    });
  }
}

// Calls compare_panel() for a panel of `size` centroids, at most Count.
template <std::size_t Count>
HWY_INLINE void compare_panel_of_size(std::size_t size, const PairLine* pairs,
                                      std::size_t pair_count, const std::int32_t* panel,
                                      const std::int32_t* offsets, const std::int32_t* limits,
                                      std::uint64_t* below) {
  if constexpr (Count > 0) {
    if (size == Count) {
      compare_panel<Count>(pairs, pair_count, panel, offsets, limits, below);
    } else {
      compare_panel_of_size<Count - 1>(size, pairs, pair_count, panel, offsets, limits, below);
    }
  }
}

void screen_integers_below_in(const IntegerTile& tile, std::int64_t rows, std::int64_t d,
                              const IntegerCentroids& centroids, const double* squared_distances,
                              std::int32_t* offsets, std::uint64_t* below) {
  const double inverse_unit = 1 / static_cast<double>(tile.unit);
  for (std::int64_t c = 0; c < centroids.clusters; ++c) {
    offsets[c] = static_cast<std::int32_t>(centroids.offsets[c] * inverse_unit);
    below[c] = 0;
  }
  alignas(64) std::int32_t limits[kTile];
  find_limits(tile, rows, d, centroids, squared_distances, limits);
  const std::int64_t pair_count = (d + 1) / 2;
  for (std::int64_t c = 0; c < centroids.clusters; c += centroids.panel_size) {
    const std::int64_t size = std::min(centroids.panel_size, centroids.clusters - c);
    compare_panel_of_size<kMaxPanelCentroids>(
        static_cast<std::size_t>(size), tile.pairs, static_cast<std::size_t>(pair_count),
        centroids.packed_centroids + c * pair_count, offsets + c, limits, below + c);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lloyd_openmp {

HWY_EXPORT(screen_integers_below_in);

void screen_integers_below(InstructionSet set, const IntegerTile& tile, std::int64_t rows,
                           std::int64_t d, const IntegerCentroids& centroids,
                           const double* squared_distances, std::int32_t* offsets,
                           std::uint64_t* below) {
  LLOYD_DISPATCH(set.for_integer_screen(), screen_integers_below_in)
  (tile, rows, d, centroids, squared_distances, offsets, below);
}

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
