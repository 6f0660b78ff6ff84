// Compiled once per instruction set; InstructionSet selects one at run time.
#include "bounds/scan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "common/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bounds/scan.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "common/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

// One value for each centroid of a group, in kGroupVectors vectors.
template <class Real>
using GroupTag = hn::CappedTag<Real, kGroupCentroids>;
template <class Real>
constexpr std::size_t kGroupVectors = kGroupCentroids / hn::MaxLanes(GroupTag<Real>());

// Groups that are scored together, with enough sums to hide the latency of multiply-adds.
constexpr std::size_t kBatchGroups = 4;

// The scan of one sample: scores groups of centroids and tracks the two lowest group minima.
template <class Real>
class GroupScan {
 public:
  GroupScan(const Real* x, std::size_t d, const Real* origin,
            const GroupedCentroids<Real>& centroids, std::int32_t own, Real* workspace)
      : d_(d),
        centroids_(centroids),
        own_slot_(centroids.slot_of_centroid[own]),
        y_(workspace),
        scores_(workspace + (d + kGroupCentroids - 1) / kGroupCentroids * kGroupCentroids) {
    const GroupTag<Real> tag;
    std::size_t j = 0;
    for (; j < d; ++j) y_[j] = x[j] - origin[j];
    for (; j % kGroupCentroids != 0; ++j) y_[j] = 0;
    auto squares = hn::Zero(tag);
    for (j = 0; j < d; j += hn::Lanes(tag)) {
      const auto y = hn::Load(tag, y_ + j);
      squares = hn::MulAdd(y, y, squares);
    }
    norm_ = hn::GetLane(hn::SumOfLanes(tag, squares));
    const ScoreLimit<Real>& limit = centroids.limit;
    excess_ = limit.base + limit.slope * std::sqrt(norm_) + limit.square * norm_ +
              limit.norm_excess * norm_;
  }

  // Calls visit(first, mask) for the bounds that do not exceed `limit`; bit i of mask: bound first
  // + i. Sets lowest_closed() to the lowest bound above `limit`. `own`: a bound that belongs to the
  // assigned centroid alone and is skipped; negative: none.
  template <class Visit>
  HWY_INLINE void visit_open(const GroupBounds& bounds, std::int64_t count, float limit,
                             std::int64_t own, const Visit& visit) {
    const GroupTag<float> tag;
    constexpr std::size_t kLanes = hn::MaxLanes(GroupTag<float>());
    const auto threshold = hn::Set(tag, limit);
    const auto infinite = hn::Set(tag, std::numeric_limits<float>::infinity());
    auto lowest_closed = infinite;
    for (std::int64_t first = 0; first < count; first += kGroupCentroids) {
      std::uint64_t bits = 0;
      for (std::size_t part = 0; part < kGroupVectors<float>; ++part) {
        const std::int64_t at = first + static_cast<std::int64_t>(part * kLanes);
        hn::Vec<GroupTag<float>> drift_below, drift_above;
        hn::LoadInterleaved2(tag, &bounds.drift[at].lower, drift_below, drift_above);
        const auto lower = hn::Sub(hn::LoadU(tag, bounds.lower + at), drift_above);
        auto closed = hn::Gt(lower, threshold);
        if (own >= at && own < at + static_cast<std::int64_t>(kLanes)) {
          const auto is_own = hn::Eq(hn::Iota(tag, 0), hn::Set(tag, static_cast<float>(own - at)));
          lowest_closed =
              hn::Min(lowest_closed, hn::IfThenElse(hn::AndNot(is_own, closed), lower, infinite));
          closed = hn::Or(closed, is_own);
        } else {
          lowest_closed = hn::Min(lowest_closed, hn::IfThenElse(closed, lower, infinite));
        }
        bits |= bits_of(tag, hn::Not(closed)) << (part * kLanes);
      }
      // Bounds beyond the last one are padding.
      if (count - first < kGroupCentroids) bits &= (std::uint64_t{1} << (count - first)) - 1;
      if (bits != 0) visit(first, bits);
    }
    lowest_closed_ = hn::GetLane(hn::MinOfLanes(tag, lowest_closed));
  }

  // Queues a group for scoring. Calls on_scored(group, minimum) for each scored group.
  template <class OnScored>
  HWY_INLINE void enqueue(std::int64_t group, const OnScored& on_scored) {
    batch_[queued_++] = group;
    if (queued_ == kBatchGroups) flush(on_scored);
  }
  template <class OnScored>
  HWY_INLINE void flush(const OnScored& on_scored) {
    score_batch<kBatchGroups>();
    for (std::size_t i = 0; i < queued_; ++i) {
      const std::int64_t group = batch_[i];
      ++groups_;
      if (own_slot_ / kGroupCentroids == group) {
        scores_[own_slot_] = std::numeric_limits<Real>::infinity();
      }
      const Real lowest = group_minimum(group);
      if (lowest < lowest_) {
        second_ = lowest_;
        lowest_ = lowest;
        lowest_group_ = group;
      } else {
        second_ = std::min(second_, lowest);
      }
      on_scored(group, lowest);
    }
    queued_ = 0;
  }

  // Excludes the nearest centroid from the scores of its group, and updates second() to the lowest
  // score of the others. Returns the slot of the nearest centroid; -1 if nothing was scored.
  std::int64_t remove_nearest() {
    if (lowest_group_ < 0) return -1;
    Real* const scores = scores_ + lowest_group_ * kGroupCentroids;
    std::int64_t lane = 0;
    while (scores[lane] != lowest_) ++lane;
    scores[lane] = std::numeric_limits<Real>::infinity();
    second_ = std::min(second_, group_minimum(lowest_group_));
    return lowest_group_ * kGroupCentroids + lane;
  }

  Real group_minimum(std::int64_t group) const {
    const GroupTag<Real> tag;
    auto lowest = hn::Load(tag, scores_ + group * kGroupCentroids);
    for (std::size_t part = 1; part < kGroupVectors<Real>; ++part) {
      lowest =
          hn::Min(lowest, hn::Load(tag, scores_ + group * kGroupCentroids + part * hn::Lanes(tag)));
    }
    return hn::GetLane(hn::MinOfLanes(tag, lowest));
  }

  float upper_of(Real score) const {
    return upper_bound(static_cast<double>(std::max(norm_ + score + excess_, Real(0))));
  }
  float lower_of(Real score) const {
    return lower_bound(static_cast<double>(std::max(norm_ + score - excess_, Real(0))));
  }

  Real lowest() const { return lowest_; }
  Real second() const { return second_; }
  float lowest_closed() const { return lowest_closed_; }  // the lowest bound above the limit
  std::int64_t own_slot() const { return own_slot_; }
  std::int64_t screened_distances() const { return groups_ * kGroupCentroids; }
  const Real* scores(std::int64_t group) const { return scores_ + group * kGroupCentroids; }

 private:
  // Scores the queued groups, at most Count.
  template <std::size_t Count>
  HWY_INLINE void score_batch() {
    if constexpr (Count > 0) {
      if (queued_ != Count) {
        score_batch<Count - 1>();
        return;
      }
      const GroupTag<Real> tag;
      constexpr std::size_t kLanes = hn::MaxLanes(GroupTag<Real>());
      const Real* factors[Count];
      hn::Vec<GroupTag<Real>> sums[Count][kGroupVectors<Real>];
      unroll<Count>([&](auto i) HWY_ATTR {
        factors[i] =
            centroids_.factors + batch_[i] * static_cast<std::int64_t>(d_) * kGroupCentroids;
        unroll<kGroupVectors<Real>>([&](auto part) HWY_ATTR {
          sums[i][part] = hn::LoadU(
              tag, centroids_.squared_norms + batch_[i] * kGroupCentroids + part * kLanes);
        });
      });
      for (std::size_t begin = 0; begin < d_; begin += kScoreBlock) {
        const std::size_t end = std::min<std::size_t>(d_, begin + kScoreBlock);
        hn::Vec<GroupTag<Real>> before[Count][kGroupVectors<Real>];
        unroll<Count>([&](auto i) HWY_ATTR {
          unroll<kGroupVectors<Real>>([&](auto part) HWY_ATTR {
            before[i][part] = sums[i][part];
            if (begin > 0) sums[i][part] = hn::Zero(tag);
          });
        });
        for (std::size_t j = begin; j < end; ++j) {
          const auto y = hn::Set(tag, y_[j]);
          unroll<Count>([&](auto i) HWY_ATTR {
            unroll<kGroupVectors<Real>>([&](auto part) HWY_ATTR {
              sums[i][part] =
                  hn::MulAdd(hn::LoadU(tag, factors[i] + j * kGroupCentroids + part * kLanes), y,
                             sums[i][part]);
            });
          });
        }
        if (begin == 0) continue;
        unroll<Count>([&](auto i) HWY_ATTR {
          unroll<kGroupVectors<Real>>(
              [&](auto part) HWY_ATTR { sums[i][part] = hn::Add(before[i][part], sums[i][part]); });
        });
      }
      unroll<Count>([&](auto i) HWY_ATTR {
        unroll<kGroupVectors<Real>>([&](auto part) HWY_ATTR {
          hn::Store(sums[i][part], tag, scores_ + batch_[i] * kGroupCentroids + part * kLanes);
        });
      });
    }
  }

  static constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

  std::size_t d_;
  const GroupedCentroids<Real>& centroids_;
  std::int64_t own_slot_;
  Real* y_;
  Real* scores_;  // per slot
  Real norm_;     // |y|^2
  Real excess_;   // error bound of a squared distance
  std::int64_t batch_[kBatchGroups];
  std::size_t queued_ = 0;
  std::int64_t groups_ = 0;
  Real lowest_ = kInfinity;
  std::int64_t lowest_group_ = -1;
  Real second_ = kInfinity;
  float lowest_closed_ = std::numeric_limits<float>::infinity();
};

template <class T>
HWY_INLINE ScanResult scan_one(BoundKind kind, const T* x, std::int64_t d, const T* origin,
                               const GroupedCentroids<T>& centroids, std::int32_t own,
                               double own_squared, GroupBounds bounds, T* workspace) {
  GroupScan<T> scan(x, static_cast<std::size_t>(d), origin, centroids, own, workspace);
  const auto store = [&](std::int64_t bound, float lower) {
    bounds.lower[bound] = store_lower(lower, bounds.drift[bound]);
  };
  const float own_upper = upper_bound(own_squared), own_lower = lower_bound(own_squared);
  const float limit = own_upper * static_cast<float>(1 + kBoundMargin);
  const std::int64_t own_bound =
      kind == BoundKind::group ? scan.own_slot() / kGroupCentroids : scan.own_slot();
  if (kind == BoundKind::group) {
    const auto on_scored = [&](std::int64_t group, T lowest)
                               HWY_ATTR { store(group, scan.lower_of(lowest)); };
    scan.visit_open(bounds, centroids.groups, limit, -1,
                    [&](std::int64_t first, std::uint64_t bits) HWY_ATTR {
                      for (; bits != 0; bits &= bits - 1) {
                        scan.enqueue(first + std::countr_zero(bits), on_scored);
                      }
                    });
    scan.flush(on_scored);
  } else {
    const auto on_scored = [&](std::int64_t group, T) HWY_ATTR {
      const T* scores = scan.scores(group);
      for (std::int64_t lane = 0; lane < kGroupCentroids; ++lane) {
        store(group * kGroupCentroids + lane, scan.lower_of(scores[lane]));
      }
    };
    scan.visit_open(bounds, centroids.groups * kGroupCentroids, limit, own_bound,
                    [&](std::int64_t first, std::uint64_t)
                        HWY_ATTR { scan.enqueue(first / kGroupCentroids, on_scored); });
    scan.flush(on_scored);
  }

  ScanResult found{own, true, own_upper, 0, scan.screened_distances()};
  found.lower = std::min(scan.lower_of(scan.lowest()), scan.lowest_closed());
  if (proves_label(own_upper, found.lower)) return found;

  // Another centroid may be nearer. Then the assigned centroid becomes one of the others and needs
  // a bound.
  const float other_lower = kind == BoundKind::group
                                ? read_lower(bounds.lower[own_bound], bounds.drift[own_bound])
                                : own_lower;
  store(own_bound, other_lower > own_lower ? own_lower : other_lower > 0 ? other_lower : 0);
  found.upper = scan.upper_of(scan.lowest());
  const std::int64_t slot = scan.remove_nearest();
  found.lower = std::min({scan.lower_of(scan.second()), scan.lowest_closed(), own_lower});
  found.proven = slot >= 0 && proves_label(found.upper, found.lower);
  if (!found.proven) return found;
  found.label = centroids.centroid_of_slot[slot];
  if (kind == BoundKind::group) {
    const std::int64_t group = slot / kGroupCentroids;
    const float next_in_group = scan.lower_of(scan.group_minimum(group));
    store(group, group == own_bound ? std::min(next_in_group, own_lower) : next_in_group);
  }
  return found;
}

ScanResult scan_float(BoundKind kind, const float* x, std::int64_t d, const float* origin,
                      const GroupedCentroids<float>& centroids, std::int32_t own,
                      double own_squared, GroupBounds bounds, float* workspace) {
  return scan_one(kind, x, d, origin, centroids, own, own_squared, bounds, workspace);
}
ScanResult scan_double(BoundKind kind, const double* x, std::int64_t d, const double* origin,
                       const GroupedCentroids<double>& centroids, std::int32_t own,
                       double own_squared, GroupBounds bounds, double* workspace) {
  return scan_one(kind, x, d, origin, centroids, own, own_squared, bounds, workspace);
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lloyd_openmp {

HWY_EXPORT(scan_float);
HWY_EXPORT(scan_double);

template <>
ScanResult scan_sample(InstructionSet set, BoundKind kind, const float* x, std::int64_t d,
                       const float* origin, const GroupedCentroids<float>& centroids,
                       std::int32_t own, double own_squared, GroupBounds bounds, float* workspace) {
  return LLOYD_DISPATCH(set, scan_float)(kind, x, d, origin, centroids, own, own_squared, bounds,
                                         workspace);
}
template <>
ScanResult scan_sample(InstructionSet set, BoundKind kind, const double* x, std::int64_t d,
                       const double* origin, const GroupedCentroids<double>& centroids,
                       std::int32_t own, double own_squared, GroupBounds bounds,
                       double* workspace) {
  return LLOYD_DISPATCH(set, scan_double)(kind, x, d, origin, centroids, own, own_squared, bounds,
                                          workspace);
}

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
