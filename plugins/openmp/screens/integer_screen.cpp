// Compiled once per instruction set; InstructionSet selects one at run time.
#include "screens/integer_screen.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "common/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "screens/integer_screen.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "common/vectors-inl.hpp"
#include "screens/integer_products-inl.hpp"
#include "screens/screen_results-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

using FloatTag = Tag<float>;
using FloatVector = hn::Vec<FloatTag>;

// The low bits of a score hold the index of its centroid.
constexpr std::int32_t kIndexMask = IntegerScreen::kIndexMask;

// Below every score: sqrt(d)/2 <= 32 for d <= kMaxFeatures, so |q|, |p| <= kMaxUnits + 32
// (docs/design/openmp/exactness.md, section 2, step 2).
constexpr std::int32_t kLowestScore = std::numeric_limits<std::int32_t>::min();
constexpr double kMaxRoundedUnits = IntegerScreen::kMaxUnits + 32;
static_assert(32 * 32 * 4 == IntegerScreen::kMaxFeatures);
static_assert(kMaxRoundedUnits * kMaxRoundedUnits + kIndexMask + 1 < -double{kLowestScore});

// 0 to kIndexMask. Reading an index from memory saves two operations over broadcasting a counter.
constexpr auto kIndices = [] {
  std::array<std::int32_t, kIndexMask + 1> indices{};
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int32_t>(i);
  return indices;
}();

// The highest and second-highest scores of the samples in kSampleRegisters registers.
struct TopTwo {
  HWY_INLINE TopTwo() {
    for (std::size_t v = 0; v < kSampleRegisters; ++v)
      highest[v] = second[v] = hn::Set(IntTag(), kLowestScore);
  }

  HWY_INLINE void update(std::size_t v, IntVector score) {
    second[v] = hn::Max(second[v], hn::Min(highest[v], score));
    highest[v] = hn::Max(highest[v], score);
  }

  IntVector highest[kSampleRegisters], second[kSampleRegisters];
};

// Spreads the prefetches of a section over all panels (with short sections, over the first ones),
// so that memory stays busy while all panels read a section, not only while the first one does.
// Panel 0 prefetches the last share of its own section. Panel p > 0 prefetches share p - 1 of the
// next section, which panel 0 reads first. Both run kL1Distance or kL2Distance lines ahead.
// Sections shorter than two bursts are prefetched by panel 0 alone.
class PrefetchSchedule {
 public:
  // Cache lines per prefetch burst.
  static constexpr std::size_t kBurstLines = 8;

  // Prefetches nothing.
  HWY_INLINE PrefetchSchedule() : to_l2_(false), panels_(0), share_(0), offset_(0) {}
  // `lines`: cache lines of a section.
  HWY_INLINE PrefetchSchedule(std::size_t clusters, std::size_t panels, std::size_t lines)
      : to_l2_(clusters <= kMaxL2Clusters),
        panels_(std::clamp<std::size_t>(lines / kBurstLines, 1, panels)),
        share_((lines + panels_ - 1) / panels_),
        offset_((to_l2_ ? kL2Distance : kL1Distance) + lines - share_) {}

  // The first line that a panel prefetches, relative to the first line that it reads.
  HWY_INLINE std::size_t first(std::size_t panel) const { return offset_ + panel * share_; }
  // A panel prefetches one burst per `period` bursts that it reads, the first before it reads any;
  // 0: never.
  HWY_INLINE std::size_t period(std::size_t panel) const { return panel < panels_ ? panels_ : 0; }
  // With few centroids lines are consumed so fast that L1 cannot have enough prefetches in flight.
  HWY_INLINE bool prefetch_to_l2() const { return to_l2_; }

 private:
  // At 32 clusters L1 is 3 % faster, at 20 L2 is 5 % faster.
  static constexpr std::size_t kMaxL2Clusters = 24;
  // Prefetch distances in lines; they cover about the latency of memory. Half of kL2Distance was
  // slower, four times no faster.
  static constexpr std::size_t kL1Distance = 32, kL2Distance = 64;

  bool to_l2_;
  std::size_t panels_, share_, offset_;
};

// Prefetches `count` lines. Must be inlined: GCC 12 removes calls of a function that only
// prefetches.
template <bool kToL2>
HWY_INLINE void prefetch(const PairLine* lines, std::size_t count) {
  constexpr int kRead = 0, kLocality = kToL2 ? 2 : 3;
  for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(lines + i, kRead, kLocality);
}

// Scores the Count centroids of a panel for the samples from lane `first` on. `pair_count`: pairs
// of features; `offsets`, `indices`: of the centroids. Prefetches from line `next_prefetch` on, one
// burst per `period` bursts that it reads, the first before it reads any; 0: never.
template <std::size_t Count>
HWY_INLINE void score(const PairLine* pairs, std::size_t first, std::size_t pair_count,
                      const std::int32_t* panel, const std::int32_t* offsets,
                      const std::int32_t* indices, std::size_t next_prefetch, std::size_t period,
                      bool prefetch_to_l2, TopTwo& best) {
  const IntTag tag;
  const std::size_t lanes = hn::Lanes(tag);
  IntVector scores[Count][kSampleRegisters];
  const PairLine* const pairs_of_section = pairs + first / kPairLanes * pair_count;
  const std::int32_t* values[kSampleRegisters];
  unroll<kSampleRegisters>(
      [&](auto v) HWY_ATTR { values[v] = pairs_of_lane(pairs, pair_count, first + v * lanes); });
  // Adds the products of one pair of features; sums(i, v) yields the sums to add to.
  const auto add_pair = [&](const auto& sums) HWY_ATTR {
    IntVector q[kSampleRegisters];
    unroll<kSampleRegisters>([&](auto v) HWY_ATTR { q[v] = hn::Load(tag, values[v]); });
    unroll<Count>([&](auto i) HWY_ATTR {
      const IntVector p = hn::Set(tag, panel[i]);
      unroll<kSampleRegisters>(
          [&](auto v) HWY_ATTR { scores[i][v] = add_dot_products(sums(i, v), q[v], p); });
    });
    unroll<kSampleRegisters>([&](auto v) HWY_ATTR { values[v] += kPairLanes; });
    panel += Count;
  };
  // The first pair is peeled off, so that registers need no initialisation with the offsets.
  add_pair([&](auto i, auto) HWY_ATTR { return hn::Set(tag, offsets[i]); });
  // Sections that the registers span, at least 1 (with 4 lanes per register they hold half a
  // section).
  constexpr std::size_t kSections =
      std::max<std::size_t>(1, kSampleRegisters * hn::MaxLanes(tag) / kPairLanes);
  // Prefetches stay out of the inner loop, where they would make GCC 12 keep a sum in memory.
  std::size_t countdown = 1;
  for (std::size_t left = pair_count - 1; left != 0;) {
    const std::size_t now = std::min(left, PrefetchSchedule::kBurstLines);
    if (period != 0 && --countdown == 0) {
      countdown = period;
      const PairLine* next = pairs_of_section + next_prefetch;
      // Past the sections in the registers: the following kSections sections begin after all of
      // these.
      if (next_prefetch >= pair_count) next += (kSections - 1) * pair_count;
      for (std::size_t section = 0; section < kSections; ++section) {
        const PairLine* const lines = next + section * pair_count;
        prefetch_to_l2 ? prefetch<true>(lines, PrefetchSchedule::kBurstLines)
                       : prefetch<false>(lines, PrefetchSchedule::kBurstLines);
      }
      next_prefetch += PrefetchSchedule::kBurstLines;
    }
    left -= now;
    for (std::size_t pair = 0; pair < now; ++pair) {
      add_pair([&](auto i, auto v) HWY_ATTR { return scores[i][v]; });
    }
  }
  const IntVector low_bits = hn::Set(tag, kIndexMask);
  unroll<Count>([&](auto i) HWY_ATTR {
    const IntVector index = hn::Set(tag, indices[i]);
    unroll<kSampleRegisters>(
        [&](auto v) HWY_ATTR { best.update(v, hn::IfVecThenElse(low_bits, index, scores[i][v])); });
  });
}

// Scores `panels` panels of Count centroids. A separate flattened function: otherwise GCC 12 keeps
// some sums in memory.
template <std::size_t Count>
HWY_NOINLINE HWY_FLATTEN void score_panels(const PairLine* pairs, std::size_t first,
                                           std::size_t pair_count, const std::int32_t* panel,
                                           const std::int32_t* offsets, const std::int32_t* indices,
                                           std::size_t panels, const PrefetchSchedule& schedule,
                                           TopTwo& best) {
  TopTwo found = best;
  for (std::size_t i = 0; i < panels; ++i) {
    score<Count>(pairs, first, pair_count, panel + i * pair_count * Count, offsets + i * Count,
                 indices + i * Count, schedule.first(i), schedule.period(i),
                 schedule.prefetch_to_l2(), found);
  }
  best = found;
}

// Scores panels of `panel_size` centroids, at most Count.
template <std::size_t Count>
HWY_INLINE void score_panels_of_size(std::size_t panel_size, const PairLine* pairs,
                                     std::size_t first, std::size_t pair_count,
                                     const std::int32_t* panel, const std::int32_t* offsets,
                                     const std::int32_t* indices, std::size_t panels,
                                     const PrefetchSchedule& schedule, TopTwo& best) {
  if constexpr (Count > 0) {
    if (panel_size == Count) {
      score_panels<Count>(pairs, first, pair_count, panel, offsets, indices, panels, schedule,
                          best);
    } else {
      score_panels_of_size<Count - 1>(panel_size, pairs, first, pair_count, panel, offsets, indices,
                                      panels, schedule, best);
    }
  }
}

void screen_integers_in(const IntegerTile& tile, std::int64_t features,
                        const IntegerCentroids& centroids, const std::int32_t* former,
                        std::int32_t* offsets, TileLabels& nearest) {
  constexpr double u = std::numeric_limits<float>::epsilon() / 2;
  constexpr double v = std::numeric_limits<double>::epsilon() / 2;
  const auto d = static_cast<std::size_t>(features);
  const auto k = static_cast<std::size_t>(centroids.clusters);

  const double sigma = tile.unit, tau = centroids.unit, e = centroids.radius, l = centroids.norm,
               p = centroids.residual;
  for (std::size_t c = 0; c < k; ++c) {
    offsets[c] = static_cast<std::int32_t>(centroids.offsets[c] * (1 / sigma));
  }

  // The limit in units of sigma tau (docs/design/openmp/exactness.md, section 2): residual_factor
  // |y - sigma q| + norm_factor |y| + square |y|^2 + base.
  const double definition = 2 * static_cast<double>(d + 3) * v / (sigma * tau);
  const double residual_factor = IntegerScreen::kSlack * 2 * (l + p) / sigma;
  const double norm_factor = IntegerScreen::kSlack * 2 * (4 * u * (l + p) + p) / sigma;
  const double square = IntegerScreen::kSlack * definition;
  const double base = IntegerScreen::kSlack * (3 + 2 * kIndexMask + 128 + definition * e * e);

  const FloatTag tag;
  const IntTag integers;
  const auto one_unit = hn::Set(tag, static_cast<float>(sigma * tau * IntegerScreen::kSlack));
  const auto two_units = hn::Set(tag, static_cast<float>(2 * sigma * tau));
  const auto squared_radius = hn::Set(tag, static_cast<float>(e * e));
  const auto norm_excess = static_cast<float>((static_cast<double>(d) + 20) * u);
  std::uint64_t unproven = 0;
  const std::size_t pair_count = (d + 1) / 2;
  const auto panel_size = static_cast<std::size_t>(centroids.panel_size);
  // With more centroids than indices, panels are scored in rounds of at most this many centroids.
  const std::size_t indexed_clusters = (kIndexMask + 1) / panel_size * panel_size;
  const PrefetchSchedule schedule(k, std::min(k, indexed_clusters) / panel_size, pair_count);
  for (std::size_t first = 0; first < kTile; first += kSampleRegisters * hn::Lanes(tag)) {
    TopTwo best;
    IntVector labels[kSampleRegisters];
    for (IntVector& label : labels) label = hn::Zero(integers);
    const std::int32_t* panel = centroids.packed_centroids;
    for (std::size_t begin = 0; begin < k; begin += indexed_clusters) {
      const std::size_t end = std::min(begin + indexed_clusters, k);
      const TopTwo before = best;
      const std::size_t whole = (end - begin) / panel_size, left = (end - begin) % panel_size;
      const std::size_t rest = end - left;
      score_panels_of_size<kMaxPanelCentroids>(panel_size, tile.pairs, first, pair_count, panel,
                                               offsets + begin, kIndices.data(), whole,
                                               begin == 0 ? schedule : PrefetchSchedule(), best);
      panel += pair_count * (end - begin - left);
      if (left != 0) {
        score_panels_of_size<kMaxPanelCentroids>(left, tile.pairs, first, pair_count, panel,
                                                 offsets + rest, &kIndices[rest - begin], 1,
                                                 PrefetchSchedule(), best);
      }
      for (std::size_t i = 0; i < kSampleRegisters; ++i) {
        const IntVector label = hn::Add(hn::And(best.highest[i], hn::Set(integers, kIndexMask)),
                                        hn::Set(integers, static_cast<std::int32_t>(begin)));
        labels[i] = hn::IfThenElse(hn::Gt(best.highest[i], before.highest[i]), label, labels[i]);
      }
    }
    for (std::size_t i = 0; i < kSampleRegisters; ++i) {
      const std::size_t at = first + i * hn::Lanes(tag);
      const auto norm = hn::Load(tag, tile.norms->lanes + at);
      const auto residual = hn::Load(tag, tile.residuals->lanes + at);
      const auto squared_norm = hn::Mul(norm, norm);
      auto limit = hn::MulAdd(squared_norm, hn::Set(tag, static_cast<float>(square)),
                              hn::Set(tag, static_cast<float>(base)));
      limit = hn::MulAdd(norm, hn::Set(tag, static_cast<float>(norm_factor)), limit);
      limit = hn::MulAdd(residual, hn::Set(tag, static_cast<float>(residual_factor)), limit);
      // In float32, because the difference to kLowestScore may exceed 32 bits.
      const auto gap =
          hn::Sub(hn::ConvertTo(tag, best.highest[i]), hn::ConvertTo(tag, best.second[i]));
      unproven |= bits_of(tag, hn::Not(hn::Gt(gap, limit))) << at;
      hn::Store(labels[i], integers, nearest.labels + at);
      if (nearest.bounds == nullptr) continue;
      // 2 A - E^2 = |y|^2 - |y - e|^2, from A = y.e + (E^2 - |e|^2)/2.
      const auto score = [&](IntVector a) HWY_ATTR {
        return hn::MulSub(hn::ConvertTo(tag, a), two_units, squared_radius);
      };
      const auto nearest_score = score(best.highest[i]), next_score = score(best.second[i]);
      // The error of A is at most half of the limit, that of 2 A - E^2 the whole limit; the other
      // terms cover roundings.
      const auto excess = [&](auto value) HWY_ATTR {
        const auto added = hn::MulAdd(squared_radius, hn::Set(tag, 2.0f), hn::Abs(value));
        const auto rounded = hn::MulAdd(added, hn::Set(tag, 0x1p-21f),
                                        hn::Mul(squared_norm, hn::Set(tag, norm_excess)));
        return hn::MulAdd(limit, one_unit, rounded);
      };
      finish_bounds<float>(hn::Add(hn::Sub(squared_norm, nearest_score), excess(nearest_score)),
                           hn::Sub(hn::Sub(squared_norm, next_score), excess(next_score)), at,
                           *nearest.bounds);
    }
  }
  nearest.unproven = unproven;
  find_changed(former, nearest);
}

std::int64_t max_panel_size_in() {
  return kMaxPanelCentroids;
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lloyd_openmp {

HWY_EXPORT(screen_integers_in);
HWY_EXPORT(max_panel_size_in);

void screen_integers(InstructionSet set, const IntegerTile& tile, std::int64_t d,
                     const IntegerCentroids& centroids, const std::int32_t* former,
                     std::int32_t* offsets, TileLabels& nearest) {
  LLOYD_DISPATCH(set.for_integer_screen(), screen_integers_in)
  (tile, d, centroids, former, offsets, nearest);
}

std::int64_t max_panel_size(InstructionSet set) {
  return LLOYD_DISPATCH(set.for_integer_screen(), max_panel_size_in)();
}

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
