// Compiled once for each instruction set; the best one for the machine is chosen when it runs.
#include "integer_screen.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "integer_screen.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "leading-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

using FloatTag = Tag<float>;
using IntTag = SignedTag<float>;
using FloatVector = hn::Vec<FloatTag>;
using IntVector = hn::Vec<IntTag>;

// Registers for the samples of a tile at once, and centroids whose scores the others have room for:
// the fewer times a tile is read, the better.
constexpr std::size_t kOfSamples = 2;
constexpr std::size_t kMostOfPanel = kManyRegisters ? 12 : 6;

// A score's low bits say whose it is.
constexpr std::int32_t kLowBits = IntegerScreen::kLowBits;

// No score is below (IntegerScreen).
constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::min();
constexpr double kMostInteger = IntegerScreen::kMostUnits + 32;
static_assert(32 * 32 * 4 == IntegerScreen::kMostFeatures);
static_assert(kMostInteger * kMostInteger + kLowBits + 1 < -double{kNone});

// 0 to kLowBits, to be read from memory: a broadcast of a counter takes two operations more.
constexpr auto kMarks = [] {
  std::array<std::int32_t, kLowBits + 1> marks{};
  for (std::size_t i = 0; i < marks.size(); ++i) marks[i] = static_cast<std::int32_t>(i);
  return marks;
}();

// Greatest and second score of the samples in kOfSamples registers.
struct Greatest {
  HWY_INLINE Greatest() {
    for (std::size_t v = 0; v < kOfSamples; ++v) greatest[v] = second[v] = hn::Set(IntTag(), kNone);
  }

  HWY_INLINE void offer(std::size_t v, IntVector score) {
    second[v] = hn::Max(second[v], hn::Min(greatest[v], score));
    greatest[v] = hn::Max(greatest[v], score);
  }

  IntVector greatest[kOfSamples], second[kOfSamples];
};

// Not all machines with AVX-512 have the instruction, but InstructionSet::of_integers() takes AVX2
// there, if that is compiled.
#undef LLOYD_ADDS_PRODUCTS
#if HWY_TARGET == HWY_AVX3 && ((HWY_TARGETS & HWY_AVX2) || defined(__AVX512VNNI__))
#define LLOYD_ADDS_PRODUCTS 1
#else
#define LLOYD_ADDS_PRODUCTS 0
#endif

// sums + a.b over each lane's pair.
HWY_INLINE IntVector add_products(IntVector sums, IntVector a, IntVector b) {
#if LLOYD_ADDS_PRODUCTS
  asm("vpdpwssd %2, %1, %0" : "+v"(sums.raw) : "v"(a.raw), "v"(b.raw));
  return sums;
#elif !HWY_ARCH_X86 || HWY_TARGET >= HWY_EMU128
  const auto low = [](IntVector pair)
                       HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(pair)); };
  const auto products =
      hn::Add(hn::Mul(low(a), low(b)), hn::Mul(hn::ShiftRight<16>(a), hn::ShiftRight<16>(b)));
  return hn::Add(sums, products);
#else
  const hn::RepartitionToNarrow<IntTag> halves;
  IntVector unused = hn::Zero(IntTag());
  const IntVector products = hn::ReorderWidenMulAccumulate(
      IntTag(), hn::BitCast(halves, a), hn::BitCast(halves, b), hn::Zero(IntTag()), unused);
  // In place: GCC 12 gives each sum another register, or none, and moves it back.
#if !HWY_COMPILER_GCC_ACTUAL
  return hn::Add(sums, products);
#elif HWY_TARGET <= HWY_AVX2
  asm("vpaddd %1, %0, %0" : "+v"(sums.raw) : "v"(products.raw));
  return sums;
#else
  asm("paddd %1, %0" : "+x"(sums.raw) : "x"(products.raw));
  return sums;
#endif
#endif
}

// When panels ask for lines of samples, so that these come from memory all the time, not only while
// the first panel reads them: the first one asks for what it comes to last itself, the others for
// what the next samples' first panel comes to before. Of few lines only the first panel asks.
class Asking {
 public:
  // Lines that are asked for at once.
  static constexpr std::size_t kLines = 8;

  // No panel asks.
  HWY_INLINE Asking() : second_cache_(false), panels_(0), share_(0), before_(0) {}
  // `lines`: those of kPairLanes samples.
  HWY_INLINE Asking(std::size_t clusters, std::size_t panels, std::size_t lines)
      : second_cache_(clusters <= kFewClusters),
        panels_(std::clamp<std::size_t>(lines / kLines, 1, panels)),
        share_((lines + panels_ - 1) / panels_),
        before_((second_cache_ ? kFarAhead : kAhead) + lines - share_) {}

  // The first line that a panel asks for, counted from the one that it reads first.
  HWY_INLINE std::size_t first(std::size_t panel) const { return before_ + panel * share_; }
  // A panel asks for kLines each time that it has multiplied so many times kLines pairs of
  // features; 0: it does not.
  HWY_INLINE std::size_t every(std::size_t panel) const { return panel < panels_ ? panels_ : 0; }
  // Whether lines go to the second cache only: with few centroids lines are used up faster than
  // memory gives as many at once as the first cache can wait for.
  HWY_INLINE bool second_cache() const { return second_cache_; }

 private:
  // At 32 the first cache is 3 % faster, at 20 the second one 5 % (NOTES).
  static constexpr std::size_t kFewClusters = 24;
  // So many that the time they take to be used up is what memory takes: half of it to the second
  // cache was slower, four times as many no faster.
  static constexpr std::size_t kAhead = 32, kFarAhead = 64;

  bool second_cache_;
  std::size_t panels_, share_, before_;
};

// Asks for `count` lines. Inlined always: of a function GCC 12 finds that it does nothing.
template <bool kSecondCache>
HWY_INLINE void ask_for(const PairLine* lines, std::size_t count) {
  constexpr int kRead = 0, kLocality = kSecondCache ? 2 : 3;
  for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(lines + i, kRead, kLocality);
}

// Scores of Count centroids, which `marks` stand for.
template <std::size_t Count>
HWY_INLINE void score(const PairLine* pairs, std::size_t first, std::size_t count,
                      const std::int32_t* panel, const std::int32_t* offsets,
                      const std::int32_t* marks, std::size_t ask, std::size_t every,
                      bool second_cache, Greatest& greatest) {
  const IntTag tag;
  const std::size_t lanes = hn::Lanes(tag);
  IntVector scores[Count][kOfSamples];
  const PairLine* const pairs_of_section = pairs + first / kPairLanes * count;
  const std::int32_t* values[kOfSamples];
  unroll<kOfSamples>([&](auto v)
                         HWY_ATTR { values[v] = pairs_of_lane(pairs, count, first + v * lanes); });
  // sums(i, v) of a pair of features: what it is added to.
  const auto add_pair = [&](const auto& sums) HWY_ATTR {
    IntVector q[kOfSamples];
    unroll<kOfSamples>([&](auto v) HWY_ATTR { q[v] = hn::Load(tag, values[v]); });
    unroll<Count>([&](auto i) HWY_ATTR {
      const IntVector p = hn::Set(tag, panel[i]);
      unroll<kOfSamples>([&](auto v)
                             HWY_ATTR { scores[i][v] = add_products(sums(i, v), q[v], p); });
    });
    unroll<kOfSamples>([&](auto v) HWY_ATTR { values[v] += kPairLanes; });
    panel += Count;
  };
  // Not in the loop: registers need not be set to offsets before.
  add_pair([&](auto i, auto) HWY_ATTR { return hn::Set(tag, offsets[i]); });
  // Sections of samples that the registers hold.
  constexpr std::size_t kSections =
      std::max<std::size_t>(1, kOfSamples * hn::MaxLanes(tag) / kPairLanes);
  // Not in the inner loop, where GCC 12 then keeps a sum in memory.
  std::size_t until = 1;
  for (std::size_t left = count - 1; left != 0;) {
    const std::size_t now = std::min(left, Asking::kLines);
    if (every != 0 && --until == 0) {
      until = every;
      const PairLine* next = pairs_of_section + ask;
      if (ask >= count) next += (kSections - 1) * count;
      for (std::size_t section = 0; section < kSections; ++section) {
        const PairLine* const lines = next + section * count;
        second_cache ? ask_for<true>(lines, Asking::kLines) : ask_for<false>(lines, Asking::kLines);
      }
      ask += Asking::kLines;
    }
    left -= now;
    for (std::size_t pair = 0; pair < now; ++pair) {
      add_pair([&](auto i, auto v) HWY_ATTR { return scores[i][v]; });
    }
  }
  const IntVector low_bits = hn::Set(tag, kLowBits);
  unroll<Count>([&](auto i) HWY_ATTR {
    const IntVector mark = hn::Set(tag, marks[i]);
    unroll<kOfSamples>([&](auto v) HWY_ATTR {
      greatest.offer(v, hn::IfVecThenElse(low_bits, mark, scores[i][v]));
    });
  });
}

// Scores of `panels` panels of Count centroids. A function of its own, flat: else GCC 12 keeps sums
// in memory where they are many.
template <std::size_t Count>
HWY_NOINLINE HWY_FLATTEN void score_panels(const PairLine* pairs, std::size_t first,
                                           std::size_t count, const std::int32_t* panel,
                                           const std::int32_t* offsets, const std::int32_t* marks,
                                           std::size_t panels, const Asking& asking,
                                           Greatest& greatest) {
  Greatest found = greatest;
  for (std::size_t i = 0; i < panels; ++i) {
    score<Count>(pairs, first, count, panel + i * count * Count, offsets + i * Count,
                 marks + i * Count, asking.first(i), asking.every(i), asking.second_cache(), found);
  }
  greatest = found;
}

// The same of panels of `of_panel` centroids, Count at the most.
template <std::size_t Count>
HWY_INLINE void score_panels_of(std::size_t of_panel, const PairLine* pairs, std::size_t first,
                                std::size_t count, const std::int32_t* panel,
                                const std::int32_t* offsets, const std::int32_t* marks,
                                std::size_t panels, const Asking& asking, Greatest& greatest) {
  if constexpr (Count > 0) {
    if (of_panel == Count) {
      score_panels<Count>(pairs, first, count, panel, offsets, marks, panels, asking, greatest);
    } else {
      score_panels_of<Count - 1>(of_panel, pairs, first, count, panel, offsets, marks, panels,
                                 asking, greatest);
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

  const double s = tile.unit, t = centroids.unit, e = centroids.reach, l = centroids.norm,
               p = centroids.residual;
  for (std::size_t c = 0; c < k; ++c) {
    offsets[c] = static_cast<std::int32_t>(centroids.offsets[c] * (1 / s));
  }

  // limit = of_residual |y - s q| + of_norm |y| + square |y|^2 + base, in units of st.
  const double definition = 2 * static_cast<double>(d + 3) * v / (s * t);
  const double of_residual = IntegerScreen::kSlack * 2 * (l + p) / s;
  const double of_norm = IntegerScreen::kSlack * 2 * (4 * u * (l + p) + p) / s;
  const double square = IntegerScreen::kSlack * definition;
  const double base = IntegerScreen::kSlack * (3 + 2 * kLowBits + 128 + definition * e * e);

  const FloatTag tag;
  const IntTag integers;
  const auto one_unit = hn::Set(tag, static_cast<float>(s * t * IntegerScreen::kSlack));
  const auto two_units = hn::Set(tag, static_cast<float>(2 * s * t));
  const auto squared_reach = hn::Set(tag, static_cast<float>(e * e));
  const auto norm_excess = static_cast<float>((static_cast<double>(d) + 20) * u);
  std::uint64_t undecided = 0;
  const std::size_t count = (d + 1) / 2;
  const auto of_panel = static_cast<std::size_t>(centroids.panel);
  const std::size_t marked = (kLowBits + 1) / of_panel * of_panel;
  const Asking asking(k, std::min(k, marked) / of_panel, count);
  for (std::size_t first = 0; first < kTile; first += kOfSamples * hn::Lanes(tag)) {
    Greatest greatest;
    IntVector labels[kOfSamples];
    for (IntVector& label : labels) label = hn::Zero(integers);
    const std::int32_t* panel = centroids.panels;
    for (std::size_t begin = 0; begin < k; begin += marked) {
      const std::size_t end = std::min(begin + marked, k);
      const Greatest before = greatest;
      const std::size_t whole = (end - begin) / of_panel, left = (end - begin) % of_panel;
      const std::size_t rest = end - left;
      score_panels_of<kMostOfPanel>(of_panel, tile.pairs, first, count, panel, offsets + begin,
                                    kMarks.data(), whole, begin == 0 ? asking : Asking(), greatest);
      panel += count * (end - begin - left);
      if (left != 0) {
        score_panels_of<kMostOfPanel>(left, tile.pairs, first, count, panel, offsets + rest,
                                      &kMarks[rest - begin], 1, Asking(), greatest);
      }
      for (std::size_t i = 0; i < kOfSamples; ++i) {
        const IntVector label = hn::Add(hn::And(greatest.greatest[i], hn::Set(integers, kLowBits)),
                                        hn::Set(integers, static_cast<std::int32_t>(begin)));
        labels[i] =
            hn::IfThenElse(hn::Gt(greatest.greatest[i], before.greatest[i]), label, labels[i]);
      }
    }
    for (std::size_t i = 0; i < kOfSamples; ++i) {
      const std::size_t at = first + i * hn::Lanes(tag);
      const auto norm = hn::Load(tag, tile.norms->lanes + at);
      const auto residual = hn::Load(tag, tile.residuals->lanes + at);
      const auto squared_norm = hn::Mul(norm, norm);
      auto limit = hn::MulAdd(squared_norm, hn::Set(tag, static_cast<float>(square)),
                              hn::Set(tag, static_cast<float>(base)));
      limit = hn::MulAdd(norm, hn::Set(tag, static_cast<float>(of_norm)), limit);
      limit = hn::MulAdd(residual, hn::Set(tag, static_cast<float>(of_residual)), limit);
      // In float32: to kNone there may be more than 32 bits hold.
      const auto gap =
          hn::Sub(hn::ConvertTo(tag, greatest.greatest[i]), hn::ConvertTo(tag, greatest.second[i]));
      undecided |= bits_of(tag, hn::Not(hn::Gt(gap, limit))) << at;
      hn::Store(labels[i], integers, nearest.labels + at);
      if (nearest.bounds == nullptr) continue;
      // |y|^2 - |y - e|^2: the same for all centroids left out of A.
      const auto score = [&](IntVector a) HWY_ATTR {
        return hn::MulSub(hn::ConvertTo(tag, a), two_units, squared_reach);
      };
      const auto nearest_score = score(greatest.greatest[i]),
                 next_score = score(greatest.second[i]);
      // A is off by half of the limit, a score by all of it; the rest are roundings.
      const auto excess = [&](auto of_score) HWY_ATTR {
        const auto added = hn::MulAdd(squared_reach, hn::Set(tag, 2.0f), hn::Abs(of_score));
        const auto rounded = hn::MulAdd(added, hn::Set(tag, 0x1p-21f),
                                        hn::Mul(squared_norm, hn::Set(tag, norm_excess)));
        return hn::MulAdd(limit, one_unit, rounded);
      };
      finish_bounds<float>(hn::Add(hn::Sub(squared_norm, nearest_score), excess(nearest_score)),
                           hn::Sub(hn::Sub(squared_norm, next_score), excess(next_score)), at,
                           *nearest.bounds);
    }
  }
  nearest.undecided = undecided;
  find_changed(former, nearest);
}

std::int64_t most_of_panel_in() {
  return kMostOfPanel;
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lloyd_openmp {

HWY_EXPORT(screen_integers_in);
HWY_EXPORT(most_of_panel_in);

void screen_integers(InstructionSet set, const IntegerTile& tile, std::int64_t d,
                     const IntegerCentroids& centroids, const std::int32_t* former,
                     std::int32_t* offsets, TileLabels& nearest) {
  LLOYD_DISPATCH(set.of_integers(), screen_integers_in)
  (tile, d, centroids, former, offsets, nearest);
}

std::int64_t most_of_panel(InstructionSet set) {
  return LLOYD_DISPATCH(set.of_integers(), most_of_panel_in)();
}

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
