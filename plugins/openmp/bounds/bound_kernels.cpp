// Compiled once per instruction set; InstructionSet selects one at run time.
#include "bounds/bound_kernels.hpp"

#include <bit>
#include <iterator>
#include <limits>

#include "common/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bounds/bound_kernels.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "common/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

using BoundTag = Tag<float>;
using LabelTag = SignedTag<float>;

// Loads the drift of the centroids with these labels, rounded down or up.
enum class Side { lower, upper };
template <Side kSide>
HWY_INLINE hn::Vec<BoundTag> gather_drift(hn::Vec<LabelTag> labels, const CentroidDrift& drift) {
  static_assert(sizeof(Drift) == 2 * sizeof(float));
  const auto* values = &drift.all()->lower + (kSide == Side::upper ? 1 : 0);
  return hn::GatherIndex(BoundTag(), values, hn::Add(labels, labels));
}

std::uint64_t find_open_in(const std::int32_t* labels, StoredBounds bounds,
                           const CentroidDrift& drift) {
  const BoundTag tag;
  const auto max_drift = hn::Set(tag, drift.maximum().upper);
  const auto margin = hn::Set(tag, static_cast<float>(1 + kBoundMargin));
  std::uint64_t open_mask = 0;
  for (std::size_t at = 0; at < kTile; at += hn::Lanes(tag)) {
    const auto own_drift = gather_drift<Side::upper>(hn::LoadU(LabelTag(), labels + at), drift);
    const auto upper = hn::Add(hn::LoadU(tag, bounds.upper + at), own_drift);
    const auto lower = hn::Sub(hn::LoadU(tag, bounds.lower + at), max_drift);
    open_mask |= bits_of(tag, hn::Not(hn::Gt(lower, hn::Mul(upper, margin)))) << at;
  }
  return open_mask;
}

void store_bounds_in(const TileLabels& nearest, std::uint64_t unproven, const CentroidDrift& drift,
                     StoredBounds bounds) {
  const BoundTag tag;
  const auto max_drift = hn::Set(tag, drift.maximum().lower);
  const auto excess = hn::Set(tag, static_cast<float>(kBoundExcess));
  const auto shrink = hn::Set(tag, static_cast<float>(1 - kBoundExcess));
  for (std::size_t at = 0; at < kTile; at += hn::Lanes(tag)) {
    const auto own_drift =
        gather_drift<Side::lower>(hn::Load(LabelTag(), nearest.labels + at), drift);
    const auto upper = hn::Sub(hn::Load(tag, nearest.bounds->upper + at), own_drift);
    hn::StoreU(hn::MulAdd(hn::Abs(upper), excess, upper), tag, bounds.upper + at);
    const auto lower = hn::Add(hn::Load(tag, nearest.bounds->lower + at), max_drift);
    hn::StoreU(hn::Mul(lower, shrink), tag, bounds.lower + at);
  }
  for (std::uint64_t left = unproven; left != 0; left &= left - 1) {
    reset_bounds({bounds.upper + std::countr_zero(left), bounds.lower + std::countr_zero(left)});
  }
}

using WideTag = hn::CappedTag<double, 8>;
HWY_INLINE hn::Vec<WideTag> load_wide(const float* values) {
  const WideTag tag;
  return hn::PromoteTo(tag, hn::LoadU(hn::Rebind<float, WideTag>(), values));
}
HWY_INLINE hn::Vec<WideTag> load_wide(const double* values) {
  return hn::LoadU(WideTag(), values);
}

template <class T>
HWY_INLINE void measure(const T* samples, std::int64_t stride, std::int64_t features,
                        const std::int64_t* rows, std::int64_t count, const std::int32_t* labels,
                        const double* centroids, double* squared) {
  const WideTag tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto d = static_cast<std::size_t>(features);
  for (std::int64_t i = 0; i < count; ++i) {
    const T* sample = samples + rows[i] * stride;
    const double* centroid = centroids + labels[rows[i]] * features;
    auto even = hn::Zero(tag), odd = hn::Zero(tag);
    const auto add = [&](std::size_t j, auto& sum) HWY_ATTR {
      const auto difference = hn::Sub(load_wide(sample + j), hn::LoadU(tag, centroid + j));
      sum = hn::MulAdd(difference, difference, sum);
    };
    std::size_t j = 0;
    for (; j + 2 * lanes <= d; j += 2 * lanes) {
      add(j, even);
      add(j + lanes, odd);
    }
    if (j + lanes <= d) {
      add(j, even);
      j += lanes;
    }
    double sum = hn::GetLane(hn::SumOfLanes(tag, hn::Add(even, odd)));
    for (; j < d; ++j) {
      const double difference = static_cast<double>(sample[j]) - centroid[j];
      sum += difference * difference;
    }
    squared[i] = sum;
  }
}

void measure_float(const float* samples, std::int64_t stride, std::int64_t d,
                   const std::int64_t* rows, std::int64_t count, const std::int32_t* labels,
                   const double* centroids, double* squared) {
  measure(samples, stride, d, rows, count, labels, centroids, squared);
}
void measure_double(const double* samples, std::int64_t stride, std::int64_t d,
                    const std::int64_t* rows, std::int64_t count, const std::int32_t* labels,
                    const double* centroids, double* squared) {
  measure(samples, stride, d, rows, count, labels, centroids, squared);
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lloyd_openmp {

HWY_EXPORT(find_open_in);
HWY_EXPORT(store_bounds_in);
HWY_EXPORT(measure_float);
HWY_EXPORT(measure_double);

std::uint64_t find_open(InstructionSet set, const std::int32_t* labels, StoredBounds bounds,
                        const CentroidDrift& drift) {
  return LLOYD_DISPATCH(set, find_open_in)(labels, bounds, drift);
}

void store_bounds(InstructionSet set, const TileLabels& nearest, std::uint64_t unproven,
                  const CentroidDrift& drift, StoredBounds bounds) {
  LLOYD_DISPATCH(set, store_bounds_in)(nearest, unproven, drift, bounds);
}

template <>
void measure_distances(InstructionSet set, const float* samples, std::int64_t stride,
                       std::int64_t d, const std::int64_t* rows, std::int64_t count,
                       const std::int32_t* labels, const double* centroids, double* squared) {
  LLOYD_DISPATCH(set, measure_float)
  (samples, stride, d, rows, count, labels, centroids, squared);
}
template <>
void measure_distances(InstructionSet set, const double* samples, std::int64_t stride,
                       std::int64_t d, const std::int64_t* rows, std::int64_t count,
                       const std::int32_t* labels, const double* centroids, double* squared) {
  LLOYD_DISPATCH(set, measure_double)
  (samples, stride, d, rows, count, labels, centroids, squared);
}

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
