// Compiled once per instruction set; InstructionSet selects one at run time.
#include "screens/integer_rounding.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "common/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "screens/integer_rounding.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "common/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

using FloatTag = Tag<float>;
using IntTag = SignedTag<float>;
using FloatVector = hn::Vec<FloatTag>;
using IntVector = hn::Vec<IntTag>;

// Rounds values to integer multiples of a unit. Adding 1.5 x 2^23 leaves the nearest integer in the
// low bits, as in docs/design/openmp/exactness.md, section 6, step 1, for float64. hn::NearestInt()
// takes twice as long, because it handles values of any size; these are below 2^22 units.
template <class D>
struct UnitRounder {
  using Value = hn::Vec<D>;
  using Integer = hn::Vec<hn::RebindToSigned<D>>;

  HWY_INLINE explicit UnitRounder(float unit)
      : unit_(hn::Set(D(), unit)),
        inverse_(hn::Set(D(), 1 / unit)),
        magic_(hn::Set(D(), 0x1.8p23f)) {}

  // Adds the square of the rounding residual to `squares`.
  HWY_INLINE Integer operator()(Value y, Value& squares) const {
    const hn::RebindToSigned<D> integers;
    const auto biased = hn::MulAdd(y, inverse_, magic_);
    const auto residual = hn::NegMulAdd(hn::Sub(biased, magic_), unit_, y);
    squares = hn::MulAdd(residual, residual, squares);
    return hn::Sub(hn::BitCast(integers, biased), hn::BitCast(integers, magic_));
  }

 private:
  Value unit_, inverse_, magic_;
};

// Computes |y| of each sample.
HWY_INLINE void compute_norms(const TileVector<float>* tile, std::size_t d,
                              TileVector<float>& norms) {
  const FloatTag tag;
  for (std::size_t first = 0; first < kTile; first += kSampleVectors * hn::Lanes(tag)) {
    FloatVector sums[kSampleVectors];
    for (std::size_t v = 0; v < kSampleVectors; ++v) sums[v] = hn::Zero(tag);
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t v = 0; v < kSampleVectors; ++v) {
        const auto y = hn::Load(tag, tile[j].lanes + first + v * hn::Lanes(tag));
        sums[v] = hn::MulAdd(y, y, sums[v]);
      }
    }
    for (std::size_t v = 0; v < kSampleVectors; ++v) {
      hn::Store(hn::Sqrt(sums[v]), tag, norms.lanes + first + v * hn::Lanes(tag));
    }
  }
}

// Rounds a tile; `residuals`: |y - sigma q|.
HWY_INLINE void round_to_units(const TileVector<float>* tile, std::size_t d, float unit,
                               PairLine* pairs, TileVector<float>& residuals) {
  const FloatTag tag;
  const IntTag integers;
  const UnitRounder<FloatTag> rounder(unit);
  for (std::size_t at = 0; at < kTile; at += hn::Lanes(tag)) {
    FloatVector sum = hn::Zero(tag);
    const auto round = [&](std::size_t j)
                           HWY_ATTR { return rounder(hn::Load(tag, tile[j].lanes + at), sum); };
    const auto lower = hn::Set(integers, 0xFFFF);
    std::int32_t* to = pairs_of_lane(pairs, (d + 1) / 2, at);
    for (std::size_t j = 0; j < d; j += 2, to += kPairLanes) {
      IntVector pair = hn::And(round(j), lower);
      if (j + 1 < d) pair = hn::Or(pair, hn::ShiftLeft<16>(round(j + 1)));
      hn::Store(pair, integers, to);
    }
    hn::Store(hn::Sqrt(sum), tag, residuals.lanes + at);
  }
}

// Covers the relative errors of the computed norms and of the largest component, with ample room.
constexpr double kNormSlack = 1 + 4e-3;

float largest_norm(const IntegerTile& integers) {
  return *std::max_element(std::begin(integers.norms->lanes), std::end(integers.norms->lanes));
}

// Chooses the unit for samples whose norms have been stored and whose components are at most
// `largest_value`.
void choose_unit(double radius, float largest_value, IntegerTile& integers) {
  const double sample_radius =
      IntegerScreen::radius_of(double{largest_norm(integers)}, double{largest_value}) * kNormSlack;
  integers.radius = static_cast<float>(sample_radius);
  integers.unit = static_cast<float>(std::max(sample_radius, radius) / IntegerScreen::kMaxUnits);
}

void round_tile_in(const TileVector<float>* tile, std::int64_t features, double radius,
                   IntegerTile& integers) {
  const auto d = static_cast<std::size_t>(features);
  compute_norms(tile, d, *integers.norms);
  // With few features one component may make up the whole norm, and finding the largest one costs
  // more than it gains.
  choose_unit(radius, largest_norm(integers), integers);
  round_to_units(tile, d, integers.unit, integers.pairs, *integers.residuals);
}

#if HWY_TARGET != HWY_SCALAR

using RowTag = hn::CappedTag<float, kPairLanes>;
using RowVector = hn::Vec<RowTag>;
using RowIntTag = hn::RebindToSigned<RowTag>;

// Features, and pairs of features, that are rounded together.
constexpr std::size_t kBlockFeatures = 32;
constexpr std::size_t kBlockPairs = kBlockFeatures / 2;

HWY_INLINE void take_square_roots(TileVector<float>& squares) {
  const RowTag tag;
  for (std::size_t lane = 0; lane < kTile; lane += hn::Lanes(tag)) {
    hn::Store(hn::Sqrt(hn::Load(tag, squares.lanes + lane)), tag, squares.lanes + lane);
  }
}

// Computes |y| of each sample and returns the largest |component|. Takes two samples at a time,
// half a tile apart, so that the hardware prefetcher follows two pages.
HWY_INLINE float compute_row_norms(const float* const* samples, const float* origin, std::size_t d,
                                   TileVector<float>& norms) {
  constexpr std::size_t kHalfTile = kTile / 2;
  const RowTag tag;
  const std::size_t lanes = hn::Lanes(tag);
  RowVector largest = hn::Zero(tag);
  float largest_of_rest = 0;
  for (std::size_t lane = 0; lane < kHalfTile; ++lane) {
    const float* rows[2] = {samples[lane], samples[lane + kHalfTile]};
    RowVector sums[2][2];
    for (auto& row_sums : sums) row_sums[0] = row_sums[1] = hn::Zero(tag);
    std::size_t j = 0;
    for (; j + 2 * lanes <= d; j += 2 * lanes) {
      unroll<2>([&](auto v) HWY_ATTR {
        const auto origin_values = hn::LoadU(tag, origin + j + v * lanes);
        unroll<2>([&](auto r) HWY_ATTR {
          const auto y = hn::Sub(hn::LoadU(tag, rows[r] + j + v * lanes), origin_values);
          sums[r][v] = hn::MulAdd(y, y, sums[r][v]);
          largest = hn::Max(largest, hn::Abs(y));
        });
      });
    }
    for (std::size_t r = 0; r < 2; ++r) {
      float sum = hn::GetLane(hn::SumOfLanes(tag, hn::Add(sums[r][0], sums[r][1])));
      for (std::size_t rest = j; rest < d; ++rest) {
        const float y = rows[r][rest] - origin[rest];
        sum += y * y;
        largest_of_rest = std::max(largest_of_rest, std::abs(y));
      }
      norms.lanes[lane + r * kHalfTile] = sum;
    }
  }
  take_square_roots(norms);
  return std::max(largest_of_rest, hn::GetLane(hn::MaxOfLanes(tag, largest)));
}

// For each position in the output of ReorderDemote2To(): the pair of features that ends up there.
constexpr auto kPairAt = [] {
  constexpr std::size_t kLanes = hn::MaxLanes(RowTag());
  std::array<std::size_t, kBlockPairs> pairs{};
  for (std::size_t at = 0; at < kBlockPairs; ++at) {
    const std::size_t block = at % kLanes / 4, in_block = at % 4;
    pairs[at] = at / kLanes * kLanes + 2 * block + in_block / 2 * (kLanes / 2) + in_block % 2;
  }
  return pairs;
}();

// Transposes `pairs` pairs of features of each sample into cache lines of 16 samples.
HWY_INLINE void transpose_pairs(const PairLine* rows, std::size_t pairs, std::size_t all_pairs,
                                PairLine* lines) {
  const RowIntTag tag;
  for (std::size_t lane = 0; lane < kTile; lane += hn::Lanes(tag)) {
    PairLine* const to = lines + lane / kPairLanes * all_pairs;
    unroll<kBlockPairs / 4>([&](auto quarter) HWY_ATTR {
      if (pairs <= kPairAt[4 * quarter]) return;
      hn::Vec<RowIntTag> columns[4];
      transpose(tag, rows[lane].lanes + 4 * quarter, kPairLanes, columns);
      unroll<4>([&](auto i) HWY_ATTR {
        constexpr std::size_t kPair = kPairAt[4 * decltype(quarter)::value + decltype(i)::value];
        if (kPair < pairs) hn::Store(columns[i], tag, to[kPair].lanes + lane % kPairLanes);
      });
    });
  }
}

// Prefetches one of the output lines of the next kBlockPairs pairs. A block stores to many lines at
// once, and each store would first wait for its line to be read for ownership.
HWY_INLINE void prefetch_output_line(const PairLine* pairs, std::size_t all_pairs,
                                     std::size_t line) {
  static_assert(kBlockPairs == kPairLanes, "one line for each sample");
  constexpr int kForWriting = 1;
  __builtin_prefetch(pairs + line / kPairLanes * all_pairs + line % kPairLanes, kForWriting);
}

// Loads features [begin, end) of samples relative to the origin, padded with zeros.
class FeatureBlock {
 public:
  FeatureBlock(const float* origin, std::size_t begin, std::size_t end)
      : origin_(origin + begin), size_(end - begin) {
    const std::size_t lanes = hn::Lanes(RowTag());
    for (std::size_t i = 0; i < lanes; ++i) {
      last_[i] = static_cast<std::int32_t>((i + lanes - size_ % lanes) % lanes);
    }
  }

  std::size_t size() const { return size_; }

  // Loads a vector of features from feature j of the block on; `x`: a sample, from feature `begin`
  // on.
  template <bool kWhole>
  HWY_INLINE RowVector load(const float* x, std::size_t j) const {
    const RowTag tag;
    const std::size_t lanes = hn::Lanes(tag);
    if (kWhole || j + lanes <= size_) return differences(x, static_cast<std::ptrdiff_t>(j));
    if (j >= size_) return hn::Zero(tag);
    // size_ - lanes may be negative: the vector then begins in the block before, which exists
    // because a sample has at least kMinRowRoundingFeatures features.
    static_assert(hn::MaxLanes(RowTag()) <= kMinRowRoundingFeatures);
    const auto last = differences(x, static_cast<std::ptrdiff_t>(size_ - lanes));
    return hn::IfThenElseZero(hn::FirstN(tag, size_ - j),
                              hn::TableLookupLanes(last, hn::SetTableIndices(tag, last_)));
  }

 private:
  HWY_INLINE RowVector differences(const float* x, std::ptrdiff_t j) const {
    return hn::Sub(hn::LoadU(RowTag(), x + j), hn::LoadU(RowTag(), origin_ + j));
  }

  const float* origin_;
  std::size_t size_;
  // The last vector of the block is partial. The value of its lane i is in lane last_[i] of the
  // full vector that ends at the end of the block.
  alignas(64) std::int32_t last_[hn::MaxLanes(RowTag())];
};

// Rounds a block of features of all samples and adds to the squared residuals (one vector per
// sample). If a full block follows, prefetches its output lines.
template <bool kWhole>
HWY_INLINE void round_block(const float* const* samples, std::size_t begin,
                            const FeatureBlock& block, const UnitRounder<RowTag>& rounder,
                            std::size_t all_pairs, bool full_block_follows, float* squares,
                            PairLine* lines) {
  const RowTag tag;
  const hn::Repartition<std::int16_t, RowIntTag> halves;
  const std::size_t lanes = hn::Lanes(tag);
  const std::size_t size = kWhole ? kBlockFeatures : block.size();
  PairLine rows[kTile];
  for (std::size_t lane = 0; lane < kTile; ++lane) {
    if (full_block_follows) prefetch_output_line(lines + kBlockPairs, all_pairs, lane);
    const float* const x = samples[lane] + begin;
    auto sum = hn::Load(tag, squares + lane * lanes);
    for (std::size_t j = 0; j < size; j += 2 * lanes) {
      const auto first = rounder(block.load<kWhole>(x, j), sum);
      const auto second = rounder(block.load<kWhole>(x, j + lanes), sum);
      hn::Store(hn::BitCast(RowIntTag(), hn::ReorderDemote2To(halves, first, second)), RowIntTag(),
                rows[lane].lanes + j / 2);
    }
    hn::Store(sum, tag, squares + lane * lanes);
  }
  transpose_pairs(rows, kWhole ? kBlockPairs : (size + 1) / 2, all_pairs, lines);
}

void round_rows_in(const float* const* samples, std::int64_t features, const float* origin,
                   double radius, IntegerTile& integers) {
  const auto d = static_cast<std::size_t>(features);
  const float largest_value = compute_row_norms(samples, origin, d, *integers.norms);
  choose_unit(radius, largest_value, integers);

  const RowTag tag;
  const std::size_t lanes = hn::Lanes(tag);
  const UnitRounder<RowTag> rounder(integers.unit);
  const std::size_t pairs = (d + 1) / 2;
  alignas(64) float squares[kTile * hn::MaxLanes(RowTag())];
  std::fill_n(squares, kTile * lanes, 0.0f);
  for (std::size_t begin = 0; begin < d; begin += kBlockFeatures) {
    const FeatureBlock block(origin, begin, std::min(begin + kBlockFeatures, d));
    PairLine* const lines = integers.pairs + begin / 2;
    if (block.size() == kBlockFeatures) {
      round_block<true>(samples, begin, block, rounder, pairs, begin + 2 * kBlockFeatures <= d,
                        squares, lines);
    } else {
      round_block<false>(samples, begin, block, rounder, pairs, false, squares, lines);
    }
  }
  TileVector<float>& residuals = *integers.residuals;
  for (std::size_t lane = 0; lane < kTile; ++lane) {
    residuals.lanes[lane] = hn::GetLane(hn::SumOfLanes(tag, hn::Load(tag, squares + lane * lanes)));
  }
  take_square_roots(residuals);
}

bool has_row_vectors() {
  return true;
}

#else

void round_rows_in(const float* const*, std::int64_t, const float*, double, IntegerTile&) {}

bool has_row_vectors() {
  return false;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lloyd_openmp {

HWY_EXPORT(round_tile_in);
HWY_EXPORT(round_rows_in);
HWY_EXPORT(has_row_vectors);

void round_tile(InstructionSet set, const TileVector<float>* tile, std::int64_t d, double radius,
                IntegerTile& integers) {
  LLOYD_DISPATCH(set, round_tile_in)(tile, d, radius, integers);
}

bool can_round_rows(InstructionSet set, std::int64_t d) {
  return d >= kMinRowRoundingFeatures && LLOYD_DISPATCH(set, has_row_vectors)();
}

void round_rows(InstructionSet set, const float* const* samples, std::int64_t d,
                const float* origin, double radius, IntegerTile& integers) {
  LLOYD_DISPATCH(set, round_rows_in)(samples, d, origin, radius, integers);
}

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
