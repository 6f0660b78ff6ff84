// Compiled once per instruction set; InstructionSet selects one at run time.
#include "spatial/box_screen.hpp"

#include <bit>
#include <iterator>

#include "common/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spatial/box_screen.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "common/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

HWY_INLINE void store_indices(hn::Vec<hn::CappedTag<std::int32_t, 16>> index, std::int32_t* to) {
  hn::StoreU(index, hn::CappedTag<std::int32_t, 16>(), to);
}
HWY_INLINE void store_indices(hn::Vec<hn::CappedTag<std::int64_t, 16>> index, std::int32_t* to) {
  const hn::CappedTag<std::int64_t, 16> tag;
  HWY_ALIGN std::int64_t wide[16];
  hn::Store(index, tag, wide);
  for (std::size_t i = 0; i < hn::Lanes(tag); ++i) to[i] = static_cast<std::int32_t>(wide[i]);
}

template <class Real>
HWY_INLINE void find_extent_in(const TileVector<Real>* tile, std::int64_t d, Real* low,
                               Real* high) {
  const Tag<Real> tag;
  for (std::int64_t j = 0; j < d; ++j) {
    Vector<Real> lowest = hn::Load(tag, tile[j].lanes), highest = lowest;
    for (std::size_t at = hn::Lanes(tag); at < kTile; at += hn::Lanes(tag)) {
      const Vector<Real> y = hn::Load(tag, tile[j].lanes + at);
      lowest = hn::Min(lowest, y);
      highest = hn::Max(highest, y);
    }
    low[j] = hn::GetLane(hn::MinOfLanes(tag, lowest));
    high[j] = hn::GetLane(hn::MaxOfLanes(tag, highest));
  }
}

// screen_group() for D features: the boxes of the group are in lanes.
template <std::size_t D, class Real>
HWY_INLINE void screen_group_features(const BoxGroup<Real>& group, const ScoreLimit<Real>& limit,
                                      const BoxCentroids<Real>& candidates, std::int32_t* owners) {
  constexpr std::size_t kBoxes = BoxGroup<Real>::kBoxes;
  const hn::CappedTag<Real, kBoxes> tag;
  const hn::RebindToSigned<decltype(tag)> integers;
  using V = hn::Vec<decltype(tag)>;
  const auto feature_stride = static_cast<std::size_t>(candidates.feature_stride);
  for (std::size_t first = 0; first < kBoxes; first += hn::Lanes(tag)) {
    V center[D], half_width[D], own[D];
    unroll<D>([&](auto j) HWY_ATTR {
      center[j] = hn::Load(tag, group.center[j] + first);
      half_width[j] = hn::Load(tag, group.half_width[j] + first);
      own[j] = hn::Zero(tag);
    });
    const auto score_of = [&](const Real* value) HWY_ATTR {
      V score = hn::Set(tag, *value);
      unroll<D>([&](auto j) HWY_ATTR {
        score = hn::MulAdd(center[j], hn::Set(tag, value[(j + 1) * feature_stride]), score);
      });
      return score;
    };
    V lowest = hn::Set(tag, std::numeric_limits<Real>::infinity());
    auto owner = hn::Zero(integers);
    const Real* const values = candidates.values.data();
    for (std::int64_t c = 0; c < candidates.count; ++c) {
      const V score = score_of(values + c);
      const auto nearer = hn::Lt(score, lowest);
      lowest = hn::Min(lowest, score);
      owner =
          hn::IfThenElse(hn::RebindMask(integers, nearer),
                         hn::Set(integers, candidates.indices[static_cast<std::size_t>(c)]), owner);
      unroll<D>([&](auto j) HWY_ATTR {
        own[j] = hn::IfThenElse(
            nearer, hn::Set(tag, values[c + static_cast<std::int64_t>((j + 1) * feature_stride)]),
            own[j]);
      });
    }
    const V radius = hn::Load(tag, group.radius + first);
    V three_limits = hn::MulAdd(radius, hn::Set(tag, limit.square), hn::Set(tag, limit.slope));
    three_limits =
        hn::Mul(hn::Set(tag, Real{3}), hn::MulAdd(radius, three_limits, hn::Set(tag, limit.base)));
    auto remaining = hn::Zero(integers);  // minus the number of remaining candidates
    for (std::int64_t c = 0; c < candidates.count; ++c) {
      V bound = hn::Sub(score_of(values + c), lowest);
      unroll<D>([&](auto j) HWY_ATTR {
        const V factor =
            hn::Set(tag, values[c + static_cast<std::int64_t>((j + 1) * feature_stride)]);
        bound = hn::NegMulAdd(half_width[j], hn::Abs(hn::Sub(factor, own[j])), bound);
      });
      const auto open_mask = hn::Not(hn::Gt(bound, three_limits));
      remaining =
          hn::Add(remaining, hn::VecFromMask(integers, hn::RebindMask(integers, open_mask)));
    }
    // Several candidates: all bits set, which is -1.
    const auto several = hn::Ne(remaining, hn::Set(integers, -1));
    store_indices(hn::Or(owner, hn::VecFromMask(integers, several)), owners + first);
  }
}

// The score limit for the largest |y| of the box.
template <class Real>
HWY_INLINE Real limit_for(const Box<Real>& box, const ScoreLimit<Real>& limit) {
  return limit.base + box.radius * (limit.slope + box.radius * limit.square);
}

// screen_box() for D features: the candidates are in lanes.
template <std::size_t D, class Real>
HWY_INLINE void screen_features(const Box<Real>& box, const ScoreLimit<Real>& limit,
                                const BoxCentroids<Real>& candidates, Real* scores,
                                BoxCentroids<Real>& remaining) {
  const hn::CappedTag<Real, BoxCentroids<Real>::kPadding> tag;
  using V = hn::Vec<decltype(tag)>;
  const std::size_t lanes = hn::Lanes(tag);
  const auto count = static_cast<std::size_t>(candidates.count);
  const Real* const norms = candidates.values.data();
  const auto factors = [&](std::size_t j) {
    return norms + (j + 1) * static_cast<std::size_t>(candidates.feature_stride);
  };

  V center[D], half_width[D];
  unroll<D>([&](auto j) HWY_ATTR {
    center[j] = hn::Set(tag, box.center[j]);
    half_width[j] = hn::Set(tag, box.half_width[j]);
  });
  V lowest_lanes = hn::Set(tag, std::numeric_limits<Real>::infinity());
  for (std::size_t c = 0; c < count; c += lanes) {
    V score = hn::LoadU(tag, norms + c);
    unroll<D>([&](auto j) HWY_ATTR {
      score = hn::MulAdd(center[j], hn::LoadU(tag, factors(j) + c), score);
    });
    hn::StoreU(score, tag, scores + c);
    lowest_lanes = hn::Min(lowest_lanes, score);
  }
  const V lowest = hn::MinOfLanes(tag, lowest_lanes);
  std::size_t nearest = 0;
  for (;; nearest += lanes) {
    const std::uint64_t bits = bits_of(tag, hn::Eq(hn::LoadU(tag, scores + nearest), lowest));
    if (bits == 0) continue;
    nearest += static_cast<std::size_t>(std::countr_zero(bits));
    break;
  }

  const V three_limits = hn::Set(tag, 3 * limit_for(box, limit));
  V own[D];
  unroll<D>([&](auto j) HWY_ATTR { own[j] = hn::Set(tag, factors(j)[nearest]); });
  const auto remaining_stride = static_cast<std::size_t>(remaining.feature_stride);
  std::size_t kept = 0;
  for (std::size_t c = 0; c < count; c += lanes) {
    V bound = hn::Sub(hn::LoadU(tag, scores + c), lowest);
    unroll<D>([&](auto j) HWY_ATTR {
      const V difference = hn::Abs(hn::Sub(hn::LoadU(tag, factors(j) + c), own[j]));
      bound = hn::NegMulAdd(half_width[j], difference, bound);
    });
    // NaN stays a candidate; the infinite padding does not. CompressStore copies a table at each
    // call (docs/design/openmp/spatial_order.md), hence the loop.
    std::uint64_t open_mask = bits_of(tag, hn::Not(hn::Gt(bound, three_limits)));
    for (; open_mask != 0; open_mask &= open_mask - 1, ++kept) {
      const std::size_t at = c + static_cast<std::size_t>(std::countr_zero(open_mask));
      Real* const value = remaining.values.data() + kept;
      *value = norms[at];
      unroll<D>([&](auto j) HWY_ATTR { value[(j + 1) * remaining_stride] = factors(j)[at]; });
      remaining.indices[kept] = candidates.indices[at];
    }
  }
  for (std::size_t at = kept; at < kept + BoxCentroids<Real>::kPadding; at += lanes) {
    Real* const value = remaining.values.data() + at;
    hn::StoreU(hn::Set(tag, std::numeric_limits<Real>::infinity()), tag, value);
    unroll<D>([&](auto j)
                  HWY_ATTR { hn::StoreU(hn::Zero(tag), tag, value + (j + 1) * remaining_stride); });
  }
  remaining.count = static_cast<std::int64_t>(kept);
}

template <std::size_t D, class Real>
HWY_INLINE void screen_tile_features(const TileVector<Real>* tile, const Real* origin,
                                     const Box<Real>& box, const ScoreLimit<Real>& limit,
                                     const BoxCentroids<Real>& centroids, TileLabels& nearest) {
  const Tag<Real> tag;
  const SignedTag<Real> integers;
  const std::size_t lanes = hn::Lanes(tag);
  const auto count = static_cast<std::size_t>(centroids.count);
  const auto feature_stride = static_cast<std::size_t>(centroids.feature_stride);
  const Vector<Real> gap = hn::Set(tag, limit_for(box, limit));
  nearest.unproven = 0;
  for (std::size_t first = 0; first < kTile; first += 2 * lanes) {
    Vector<Real> y[D][2], lowest[2], second[2];
    hn::Vec<SignedTag<Real>> index[2];
    unroll<2>([&](auto v) HWY_ATTR {
      unroll<D>([&](auto j) HWY_ATTR {
        y[j][v] =
            hn::Sub(hn::Load(tag, tile[j].lanes + first + v * lanes), hn::Set(tag, origin[j]));
      });
      lowest[v] = second[v] = hn::Set(tag, std::numeric_limits<Real>::infinity());
      index[v] = hn::Zero(integers);
    });
    const Real* value = centroids.values.data();
    for (std::size_t c = 0; c < count; ++c, ++value) {
      const auto label = hn::Set(integers, centroids.indices[c]);
      Vector<Real> score[2];
      unroll<2>([&](auto v) HWY_ATTR { score[v] = hn::Set(tag, *value); });
      unroll<D>([&](auto j) HWY_ATTR {
        const Vector<Real> factor = hn::Set(tag, value[(j + 1) * feature_stride]);
        unroll<2>([&](auto v) HWY_ATTR { score[v] = hn::MulAdd(y[j][v], factor, score[v]); });
      });
      unroll<2>([&](auto v) HWY_ATTR {
        const auto nearer = hn::RebindMask(integers, hn::Lt(score[v], lowest[v]));
        second[v] = hn::Min(second[v], hn::Max(lowest[v], score[v]));
        lowest[v] = hn::Min(lowest[v], score[v]);
        index[v] = hn::IfThenElse(nearer, label, index[v]);
      });
    }
    unroll<2>([&](auto v) HWY_ATTR {
      const auto proven = hn::Gt(hn::Sub(second[v], lowest[v]), gap);
      nearest.unproven |= bits_of(tag, hn::Not(proven)) << (first + v * lanes);
      store_index(index[v], nearest.labels + first + v * lanes);
    });
  }
}

template <class Real>
HWY_INLINE void screen(const Box<Real>& box, std::int64_t d, const ScoreLimit<Real>& limit,
                       const BoxCentroids<Real>& candidates, Real* scores,
                       BoxCentroids<Real>& remaining) {
  static_assert(kBoxFeatures == 3);
  if (d == 1) {
    screen_features<1>(box, limit, candidates, scores, remaining);
  } else if (d == 2) {
    screen_features<2>(box, limit, candidates, scores, remaining);
  } else {
    screen_features<3>(box, limit, candidates, scores, remaining);
  }
}

void screen_box_float(const Box<float>& box, std::int64_t d, const ScoreLimit<float>& limit,
                      const BoxCentroids<float>& candidates, float* scores,
                      BoxCentroids<float>& remaining) {
  screen(box, d, limit, candidates, scores, remaining);
}
void screen_box_double(const Box<double>& box, std::int64_t d, const ScoreLimit<double>& limit,
                       const BoxCentroids<double>& candidates, double* scores,
                       BoxCentroids<double>& remaining) {
  screen(box, d, limit, candidates, scores, remaining);
}

template <class Real>
HWY_INLINE void screen_group_in(const BoxGroup<Real>& group, std::int64_t d,
                                const ScoreLimit<Real>& limit, const BoxCentroids<Real>& candidates,
                                std::int32_t* owners) {
  if (d == 1) {
    screen_group_features<1>(group, limit, candidates, owners);
  } else if (d == 2) {
    screen_group_features<2>(group, limit, candidates, owners);
  } else {
    screen_group_features<3>(group, limit, candidates, owners);
  }
}

void screen_group_float(const BoxGroup<float>& group, std::int64_t d,
                        const ScoreLimit<float>& limit, const BoxCentroids<float>& candidates,
                        std::int32_t* owners) {
  screen_group_in(group, d, limit, candidates, owners);
}
void screen_group_double(const BoxGroup<double>& group, std::int64_t d,
                         const ScoreLimit<double>& limit, const BoxCentroids<double>& candidates,
                         std::int32_t* owners) {
  screen_group_in(group, d, limit, candidates, owners);
}

template <class Real>
HWY_INLINE void screen_box_tile_in(const TileVector<Real>* tile, const Real* origin,
                                   const Box<Real>& box, std::int64_t d,
                                   const ScoreLimit<Real>& limit,
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

void screen_box_tile_float(const TileVector<float>* tile, const float* origin,
                           const Box<float>& box, std::int64_t d, const ScoreLimit<float>& limit,
                           const BoxCentroids<float>& centroids, const std::int32_t* former,
                           TileLabels& nearest) {
  screen_box_tile_in(tile, origin, box, d, limit, centroids, former, nearest);
}
void screen_box_tile_double(const TileVector<double>* tile, const double* origin,
                            const Box<double>& box, std::int64_t d, const ScoreLimit<double>& limit,
                            const BoxCentroids<double>& centroids, const std::int32_t* former,
                            TileLabels& nearest) {
  screen_box_tile_in(tile, origin, box, d, limit, centroids, former, nearest);
}

void find_extent_float(const TileVector<float>* tile, std::int64_t d, float* low, float* high) {
  find_extent_in(tile, d, low, high);
}
void find_extent_double(const TileVector<double>* tile, std::int64_t d, double* low, double* high) {
  find_extent_in(tile, d, low, high);
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
HWY_EXPORT(screen_box_tile_float);
HWY_EXPORT(screen_box_tile_double);
HWY_EXPORT(find_extent_float);
HWY_EXPORT(find_extent_double);

template <>
void screen_box(InstructionSet set, const Box<float>& box, std::int64_t d,
                const ScoreLimit<float>& limit, const BoxCentroids<float>& candidates,
                float* scores, BoxCentroids<float>& remaining) {
  LLOYD_DISPATCH(set, screen_box_float)(box, d, limit, candidates, scores, remaining);
}
template <>
void screen_box(InstructionSet set, const Box<double>& box, std::int64_t d,
                const ScoreLimit<double>& limit, const BoxCentroids<double>& candidates,
                double* scores, BoxCentroids<double>& remaining) {
  LLOYD_DISPATCH(set, screen_box_double)(box, d, limit, candidates, scores, remaining);
}

template <>
void screen_group(InstructionSet set, const BoxGroup<float>& group, std::int64_t d,
                  const ScoreLimit<float>& limit, const BoxCentroids<float>& candidates,
                  std::int32_t* owners) {
  LLOYD_DISPATCH(set, screen_group_float)(group, d, limit, candidates, owners);
}
template <>
void screen_group(InstructionSet set, const BoxGroup<double>& group, std::int64_t d,
                  const ScoreLimit<double>& limit, const BoxCentroids<double>& candidates,
                  std::int32_t* owners) {
  LLOYD_DISPATCH(set, screen_group_double)(group, d, limit, candidates, owners);
}

template <>
void screen_box_tile(InstructionSet set, const TileVector<float>* tile, const float* origin,
                     const Box<float>& box, std::int64_t d, const ScoreLimit<float>& limit,
                     const BoxCentroids<float>& centroids, const std::int32_t* former,
                     TileLabels& nearest) {
  LLOYD_DISPATCH(set, screen_box_tile_float)
  (tile, origin, box, d, limit, centroids, former, nearest);
}
template <>
void screen_box_tile(InstructionSet set, const TileVector<double>* tile, const double* origin,
                     const Box<double>& box, std::int64_t d, const ScoreLimit<double>& limit,
                     const BoxCentroids<double>& centroids, const std::int32_t* former,
                     TileLabels& nearest) {
  LLOYD_DISPATCH(set, screen_box_tile_double)
  (tile, origin, box, d, limit, centroids, former, nearest);
}

template <>
void find_extent(InstructionSet set, const TileVector<float>* tile, std::int64_t d, float* low,
                 float* high) {
  LLOYD_DISPATCH(set, find_extent_float)(tile, d, low, high);
}
template <>
void find_extent(InstructionSet set, const TileVector<double>* tile, std::int64_t d, double* low,
                 double* high) {
  LLOYD_DISPATCH(set, find_extent_double)(tile, d, low, high);
}

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
