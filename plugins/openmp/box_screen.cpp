// Compiled once for each instruction set; the best one for the machine is chosen when it runs.
#include "box_screen.hpp"

#include <bit>
#include <iterator>

#include "vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "box_screen.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "leading-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

HWY_INLINE void store_index_of(hn::Vec<hn::CappedTag<std::int32_t, 16>> index, std::int32_t* to) {
  hn::StoreU(index, hn::CappedTag<std::int32_t, 16>(), to);
}
HWY_INLINE void store_index_of(hn::Vec<hn::CappedTag<std::int64_t, 16>> index, std::int32_t* to) {
  const hn::CappedTag<std::int64_t, 16> tag;
  HWY_ALIGN std::int64_t wide[16];
  hn::Store(index, tag, wide);
  for (std::size_t i = 0; i < hn::Lanes(tag); ++i) to[i] = static_cast<std::int32_t>(wide[i]);
}

template <class Real>
HWY_INLINE void measure(const TileRow<Real>* tile, std::int64_t d, Real* low, Real* high) {
  const Tag<Real> tag;
  for (std::int64_t j = 0; j < d; ++j) {
    Vector<Real> least = hn::Load(tag, tile[j].lanes), most = least;
    for (std::size_t at = hn::Lanes(tag); at < kTile; at += hn::Lanes(tag)) {
      const Vector<Real> y = hn::Load(tag, tile[j].lanes + at);
      least = hn::Min(least, y);
      most = hn::Max(most, y);
    }
    low[j] = hn::GetLane(hn::MinOfLanes(tag, least));
    high[j] = hn::GetLane(hn::MaxOfLanes(tag, most));
  }
}

template <std::size_t D, class Real>
HWY_INLINE void screen_group_features(const BoxGroup<Real>& group, const ScoreLimit<Real>& limit,
                                      const BoxCentroids<Real>& from, std::int32_t* owners) {
  constexpr std::size_t kBoxes = BoxGroup<Real>::kBoxes;
  const hn::CappedTag<Real, kBoxes> tag;
  const hn::RebindToSigned<decltype(tag)> integers;
  using V = hn::Vec<decltype(tag)>;
  const auto apart = static_cast<std::size_t>(from.apart);
  for (std::size_t first = 0; first < kBoxes; first += hn::Lanes(tag)) {
    V center[D], half[D], own[D];
    unroll<D>([&](auto j) HWY_ATTR {
      center[j] = hn::Load(tag, group.center[j] + first);
      half[j] = hn::Load(tag, group.half[j] + first);
      own[j] = hn::Zero(tag);
    });
    const auto score_of = [&](const Real* value) HWY_ATTR {
      V score = hn::Set(tag, *value);
      unroll<D>([&](auto j) HWY_ATTR {
        score = hn::MulAdd(center[j], hn::Set(tag, value[(j + 1) * apart]), score);
      });
      return score;
    };
    V least = hn::Set(tag, std::numeric_limits<Real>::infinity());
    auto owner = hn::Zero(integers);
    const Real* const values = from.values.data();
    for (std::int64_t c = 0; c < from.count; ++c) {
      const V score = score_of(values + c);
      const auto nearer = hn::Lt(score, least);
      least = hn::Min(least, score);
      owner = hn::IfThenElse(hn::RebindMask(integers, nearer),
                             hn::Set(integers, from.indices[static_cast<std::size_t>(c)]), owner);
      unroll<D>([&](auto j) HWY_ATTR {
        own[j] = hn::IfThenElse(
            nearer, hn::Set(tag, values[c + static_cast<std::int64_t>((j + 1) * apart)]), own[j]);
      });
    }
    const V reach = hn::Load(tag, group.reach + first);
    V allowed = hn::MulAdd(reach, hn::Set(tag, limit.square), hn::Set(tag, limit.slope));
    allowed = hn::Mul(hn::Set(tag, Real{3}), hn::MulAdd(reach, allowed, hn::Set(tag, limit.base)));
    auto left = hn::Zero(integers);  // less how many
    for (std::int64_t c = 0; c < from.count; ++c) {
      V bound = hn::Sub(score_of(values + c), least);
      unroll<D>([&](auto j) HWY_ATTR {
        const V factor = hn::Set(tag, values[c + static_cast<std::int64_t>((j + 1) * apart)]);
        bound = hn::NegMulAdd(half[j], hn::Abs(hn::Sub(factor, own[j])), bound);
      });
      const auto open = hn::Not(hn::Gt(bound, allowed));
      left = hn::Add(left, hn::VecFromMask(integers, hn::RebindMask(integers, open)));
    }
    const auto several = hn::Ne(left, hn::Set(integers, -1));
    store_index_of(hn::Or(owner, hn::VecFromMask(integers, several)), owners + first);
  }
}

// The limit of a score's proof for any sample of the box.
template <class Real>
HWY_INLINE Real limit_in(const Box<Real>& box, const ScoreLimit<Real>& limit) {
  return limit.base + box.reach * (limit.slope + box.reach * limit.square);
}

template <std::size_t D, class Real>
HWY_INLINE void screen_features(const Box<Real>& box, const ScoreLimit<Real>& limit,
                                const BoxCentroids<Real>& from, Real* scores,
                                BoxCentroids<Real>& left) {
  const hn::CappedTag<Real, BoxCentroids<Real>::kPadding> tag;
  using V = hn::Vec<decltype(tag)>;
  const std::size_t lanes = hn::Lanes(tag);
  const auto count = static_cast<std::size_t>(from.count);
  const Real* const norms = from.values.data();
  const auto factors = [&](std::size_t j) {
    return norms + (j + 1) * static_cast<std::size_t>(from.apart);
  };

  V center[D], half[D];
  unroll<D>([&](auto j) HWY_ATTR {
    center[j] = hn::Set(tag, box.center[j]);
    half[j] = hn::Set(tag, box.half[j]);
  });
  V leasts = hn::Set(tag, std::numeric_limits<Real>::infinity());
  for (std::size_t c = 0; c < count; c += lanes) {
    V score = hn::LoadU(tag, norms + c);
    unroll<D>([&](auto j) HWY_ATTR {
      score = hn::MulAdd(center[j], hn::LoadU(tag, factors(j) + c), score);
    });
    hn::StoreU(score, tag, scores + c);
    leasts = hn::Min(leasts, score);
  }
  const V least = hn::MinOfLanes(tag, leasts);
  std::size_t nearest = 0;
  for (;; nearest += lanes) {
    const std::uint64_t bits = bits_of(tag, hn::Eq(hn::LoadU(tag, scores + nearest), least));
    if (bits == 0) continue;
    nearest += static_cast<std::size_t>(std::countr_zero(bits));
    break;
  }

  const V allowed = hn::Set(tag, 3 * limit_in(box, limit));
  V own[D];
  unroll<D>([&](auto j) HWY_ATTR { own[j] = hn::Set(tag, factors(j)[nearest]); });
  const auto left_apart = static_cast<std::size_t>(left.apart);
  std::size_t kept = 0;
  for (std::size_t c = 0; c < count; c += lanes) {
    V bound = hn::Sub(hn::LoadU(tag, scores + c), least);
    unroll<D>([&](auto j) HWY_ATTR {
      const V difference = hn::Abs(hn::Sub(hn::LoadU(tag, factors(j) + c), own[j]));
      bound = hn::NegMulAdd(half[j], difference, bound);
    });
    // What is no number is kept; the infinitely far ones behind the last one are not. Highway's
    // compressing stores copy their tables where GCC 12 compiles them.
    std::uint64_t open = bits_of(tag, hn::Not(hn::Gt(bound, allowed)));
    for (; open != 0; open &= open - 1, ++kept) {
      const std::size_t at = c + static_cast<std::size_t>(std::countr_zero(open));
      Real* const value = left.values.data() + kept;
      *value = norms[at];
      unroll<D>([&](auto j) HWY_ATTR { value[(j + 1) * left_apart] = factors(j)[at]; });
      left.indices[kept] = from.indices[at];
    }
  }
  for (std::size_t at = kept; at < kept + BoxCentroids<Real>::kPadding; at += lanes) {
    Real* const value = left.values.data() + at;
    hn::StoreU(hn::Set(tag, std::numeric_limits<Real>::infinity()), tag, value);
    unroll<D>([&](auto j)
                  HWY_ATTR { hn::StoreU(hn::Zero(tag), tag, value + (j + 1) * left_apart); });
  }
  left.count = static_cast<std::int64_t>(kept);
}

template <std::size_t D, class Real>
HWY_INLINE void screen_tile_features(const TileRow<Real>* tile, const Real* origin,
                                     const Box<Real>& box, const ScoreLimit<Real>& limit,
                                     const BoxCentroids<Real>& centroids, TileLabels& nearest) {
  const Tag<Real> tag;
  const SignedTag<Real> integers;
  const std::size_t lanes = hn::Lanes(tag);
  const auto count = static_cast<std::size_t>(centroids.count);
  const auto apart = static_cast<std::size_t>(centroids.apart);
  const Vector<Real> gap = hn::Set(tag, limit_in(box, limit));
  nearest.undecided = 0;
  for (std::size_t first = 0; first < kTile; first += 2 * lanes) {
    Vector<Real> y[D][2], least[2], second[2];
    hn::Vec<SignedTag<Real>> index[2];
    unroll<2>([&](auto v) HWY_ATTR {
      unroll<D>([&](auto j) HWY_ATTR {
        y[j][v] =
            hn::Sub(hn::Load(tag, tile[j].lanes + first + v * lanes), hn::Set(tag, origin[j]));
      });
      least[v] = second[v] = hn::Set(tag, std::numeric_limits<Real>::infinity());
      index[v] = hn::Zero(integers);
    });
    const Real* value = centroids.values.data();
    for (std::size_t c = 0; c < count; ++c, ++value) {
      const auto label = hn::Set(integers, centroids.indices[c]);
      Vector<Real> score[2];
      unroll<2>([&](auto v) HWY_ATTR { score[v] = hn::Set(tag, *value); });
      unroll<D>([&](auto j) HWY_ATTR {
        const Vector<Real> factor = hn::Set(tag, value[(j + 1) * apart]);
        unroll<2>([&](auto v) HWY_ATTR { score[v] = hn::MulAdd(y[j][v], factor, score[v]); });
      });
      unroll<2>([&](auto v) HWY_ATTR {
        const auto nearer = hn::RebindMask(integers, hn::Lt(score[v], least[v]));
        second[v] = hn::Min(second[v], hn::Max(least[v], score[v]));
        least[v] = hn::Min(least[v], score[v]);
        index[v] = hn::IfThenElse(nearer, label, index[v]);
      });
    }
    unroll<2>([&](auto v) HWY_ATTR {
      const auto proven = hn::Gt(hn::Sub(second[v], least[v]), gap);
      nearest.undecided |= bits_of(tag, hn::Not(proven)) << (first + v * lanes);
      store_index(index[v], nearest.labels + first + v * lanes);
    });
  }
}

template <class Real>
HWY_INLINE void screen(const Box<Real>& box, std::int64_t d, const ScoreLimit<Real>& limit,
                       const BoxCentroids<Real>& from, Real* scores, BoxCentroids<Real>& left) {
  static_assert(kBoxFeatures == 3);
  if (d == 1) {
    screen_features<1>(box, limit, from, scores, left);
  } else if (d == 2) {
    screen_features<2>(box, limit, from, scores, left);
  } else {
    screen_features<3>(box, limit, from, scores, left);
  }
}

void screen_box_float(const Box<float>& box, std::int64_t d, const ScoreLimit<float>& limit,
                      const BoxCentroids<float>& from, float* scores, BoxCentroids<float>& left) {
  screen(box, d, limit, from, scores, left);
}
void screen_box_double(const Box<double>& box, std::int64_t d, const ScoreLimit<double>& limit,
                       const BoxCentroids<double>& from, double* scores,
                       BoxCentroids<double>& left) {
  screen(box, d, limit, from, scores, left);
}

template <class Real>
HWY_INLINE void screen_group_in(const BoxGroup<Real>& group, std::int64_t d,
                                const ScoreLimit<Real>& limit, const BoxCentroids<Real>& from,
                                std::int32_t* owners) {
  if (d == 1) {
    screen_group_features<1>(group, limit, from, owners);
  } else if (d == 2) {
    screen_group_features<2>(group, limit, from, owners);
  } else {
    screen_group_features<3>(group, limit, from, owners);
  }
}

void screen_group_float(const BoxGroup<float>& group, std::int64_t d,
                        const ScoreLimit<float>& limit, const BoxCentroids<float>& from,
                        std::int32_t* owners) {
  screen_group_in(group, d, limit, from, owners);
}
void screen_group_double(const BoxGroup<double>& group, std::int64_t d,
                         const ScoreLimit<double>& limit, const BoxCentroids<double>& from,
                         std::int32_t* owners) {
  screen_group_in(group, d, limit, from, owners);
}

template <class Real>
HWY_INLINE void screen_tile(const TileRow<Real>* tile, const Real* origin, const Box<Real>& box,
                            std::int64_t d, const ScoreLimit<Real>& limit,
                            const BoxCentroids<Real>& centroids, const std::int32_t* former,
                            TileLabels& nearest) {
  if (d == 1) {
    screen_tile_features<1>(tile, origin, box, limit, centroids, nearest);
  } else if (d == 2) {
    screen_tile_features<2>(tile, origin, box, limit, centroids, nearest);
  } else {
    screen_tile_features<3>(tile, origin, box, limit, centroids, nearest);
  }
  find_changed(former, nearest);
}

void screen_tile_float(const TileRow<float>* tile, const float* origin, const Box<float>& box,
                       std::int64_t d, const ScoreLimit<float>& limit,
                       const BoxCentroids<float>& centroids, const std::int32_t* former,
                       TileLabels& nearest) {
  screen_tile(tile, origin, box, d, limit, centroids, former, nearest);
}
void screen_tile_double(const TileRow<double>* tile, const double* origin, const Box<double>& box,
                        std::int64_t d, const ScoreLimit<double>& limit,
                        const BoxCentroids<double>& centroids, const std::int32_t* former,
                        TileLabels& nearest) {
  screen_tile(tile, origin, box, d, limit, centroids, former, nearest);
}

void measure_float(const TileRow<float>* tile, std::int64_t d, float* low, float* high) {
  measure(tile, d, low, high);
}
void measure_double(const TileRow<double>* tile, std::int64_t d, double* low, double* high) {
  measure(tile, d, low, high);
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lloyd_openmp {

HWY_EXPORT(screen_box_float);
HWY_EXPORT(screen_box_double);
HWY_EXPORT(screen_group_float);
HWY_EXPORT(screen_group_double);
HWY_EXPORT(screen_tile_float);
HWY_EXPORT(screen_tile_double);
HWY_EXPORT(measure_float);
HWY_EXPORT(measure_double);

template <>
void screen_box(InstructionSet set, const Box<float>& box, std::int64_t d,
                const ScoreLimit<float>& limit, const BoxCentroids<float>& from, float* scores,
                BoxCentroids<float>& left) {
  LLOYD_DISPATCH(set, screen_box_float)(box, d, limit, from, scores, left);
}
template <>
void screen_box(InstructionSet set, const Box<double>& box, std::int64_t d,
                const ScoreLimit<double>& limit, const BoxCentroids<double>& from, double* scores,
                BoxCentroids<double>& left) {
  LLOYD_DISPATCH(set, screen_box_double)(box, d, limit, from, scores, left);
}

template <>
void screen_group(InstructionSet set, const BoxGroup<float>& group, std::int64_t d,
                  const ScoreLimit<float>& limit, const BoxCentroids<float>& from,
                  std::int32_t* owners) {
  LLOYD_DISPATCH(set, screen_group_float)(group, d, limit, from, owners);
}
template <>
void screen_group(InstructionSet set, const BoxGroup<double>& group, std::int64_t d,
                  const ScoreLimit<double>& limit, const BoxCentroids<double>& from,
                  std::int32_t* owners) {
  LLOYD_DISPATCH(set, screen_group_double)(group, d, limit, from, owners);
}

template <>
void screen_box_tile(InstructionSet set, const TileRow<float>* tile, const float* origin,
                     const Box<float>& box, std::int64_t d, const ScoreLimit<float>& limit,
                     const BoxCentroids<float>& centroids, const std::int32_t* former,
                     TileLabels& nearest) {
  LLOYD_DISPATCH(set, screen_tile_float)(tile, origin, box, d, limit, centroids, former, nearest);
}
template <>
void screen_box_tile(InstructionSet set, const TileRow<double>* tile, const double* origin,
                     const Box<double>& box, std::int64_t d, const ScoreLimit<double>& limit,
                     const BoxCentroids<double>& centroids, const std::int32_t* former,
                     TileLabels& nearest) {
  LLOYD_DISPATCH(set, screen_tile_double)(tile, origin, box, d, limit, centroids, former, nearest);
}

template <>
void measure_tile(InstructionSet set, const TileRow<float>* tile, std::int64_t d, float* low,
                  float* high) {
  LLOYD_DISPATCH(set, measure_float)(tile, d, low, high);
}
template <>
void measure_tile(InstructionSet set, const TileRow<double>* tile, std::int64_t d, double* low,
                  double* high) {
  LLOYD_DISPATCH(set, measure_double)(tile, d, low, high);
}

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
