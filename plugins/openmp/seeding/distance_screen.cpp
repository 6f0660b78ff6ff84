// Compiled once per instruction set; InstructionSet selects one at run time.
#include "seeding/distance_screen.hpp"

#include <algorithm>
#include <iterator>

#include "common/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "seeding/distance_screen.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "common/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

// Centroids per batch; their sums, for kSampleVectors registers of samples, fill the registers.
constexpr std::size_t kBatchCentroids = 4;

// Squared distances of the samples in lanes [first, first + kSampleVectors registers) to Count
// centroids.
template <std::size_t Count, class Real>
HWY_INLINE void distances(const TileVector<Real>* tile, std::size_t first, std::size_t d,
                          const Real* centroids, Vector<Real> (&sums)[Count][kSampleVectors]) {
  const Tag<Real> tag;
  for (std::size_t c = 0; c < Count; ++c) {
    for (std::size_t v = 0; v < kSampleVectors; ++v) sums[c][v] = hn::Zero(tag);
  }
  for (std::size_t j = 0; j < d; ++j) {
    Vector<Real> x[kSampleVectors];
    for (std::size_t v = 0; v < kSampleVectors; ++v) {
      x[v] = hn::Load(tag, tile[j].lanes + first + v * hn::Lanes(tag));
    }
    for (std::size_t c = 0; c < Count; ++c) {
      const Vector<Real> value = hn::Set(tag, centroids[c * d + j]);
      for (std::size_t v = 0; v < kSampleVectors; ++v) {
        const Vector<Real> difference = hn::Sub(x[v], value);
        sums[c][v] = hn::MulAdd(difference, difference, sums[c][v]);
      }
    }
  }
}

// Calls visit.centroids<Count>(c) for batches of centroids that cover [0, m).
template <class Visitor>
HWY_INLINE void for_each_batch(std::size_t m, Visitor& visit) {
  std::size_t c = 0;
  for (; c + kBatchCentroids <= m; c += kBatchCentroids)
    visit.template centroids<kBatchCentroids>(c);
  for (; c < m; ++c) visit.template centroids<1>(c);
}

template <class Real>
struct NearestVisitor {
  using Signed = hn::RebindToSigned<Tag<Real>>;

  // GCC does not compile an implicit constructor for the instruction set of HWY_BEFORE_NAMESPACE.
  HWY_INLINE NearestVisitor() {}

  template <std::size_t Count>
  HWY_INLINE void centroids(std::size_t c) {
    Vector<Real> sums[Count][kSampleVectors];
    distances<Count>(tile, first, d, values + c * d, sums);
    for (std::size_t i = 0; i < Count; ++i) {
      const auto centroid = hn::Set(Signed(), static_cast<hn::TFromD<Signed>>(c + i));
      for (std::size_t v = 0; v < kSampleVectors; ++v) {
        const auto nearer = hn::Lt(sums[i][v], lowest[v]);
        second[v] = hn::Min(second[v], hn::Max(lowest[v], sums[i][v]));
        lowest[v] = hn::Min(lowest[v], sums[i][v]);
        index[v] = hn::IfThenElse(hn::RebindMask(Signed(), nearer), centroid, index[v]);
      }
    }
  }

  const TileVector<Real>* tile;
  std::size_t first, d;
  const Real* values;
  Vector<Real> lowest[kSampleVectors], second[kSampleVectors];
  hn::Vec<Signed> index[kSampleVectors];
};

template <class Real>
HWY_INLINE void nearest_in(const TileVector<Real>* tile, std::int64_t d, const Real* centroids,
                           std::int64_t m, TileNearest<Real>& nearest) {
  using Visitor = NearestVisitor<Real>;
  using Index = hn::TFromD<typename Visitor::Signed>;
  const Tag<Real> tag;
  const std::size_t lanes = hn::Lanes(tag);
  for (std::size_t first = 0; first < kTile; first += kSampleVectors * lanes) {
    Visitor visitor;
    visitor.tile = tile;
    visitor.first = first;
    visitor.d = static_cast<std::size_t>(d);
    visitor.values = centroids;
    for (std::size_t v = 0; v < kSampleVectors; ++v) {
      visitor.lowest[v] = visitor.second[v] = hn::Set(tag, std::numeric_limits<Real>::infinity());
      visitor.index[v] = hn::Zero(typename Visitor::Signed());
    }
    for_each_batch(static_cast<std::size_t>(m), visitor);
    for (std::size_t v = 0; v < kSampleVectors; ++v) {
      const std::size_t at = first + v * lanes;
      hn::Store(visitor.lowest[v], tag, nearest.lowest.lanes + at);
      hn::Store(visitor.second[v], tag, nearest.second.lanes + at);
      HWY_ALIGN Index index[kTile];
      hn::Store(visitor.index[v], typename Visitor::Signed(), index);
      std::copy_n(index, lanes, nearest.index + at);
    }
  }
}

template <class Real>
struct BelowVisitor {
  HWY_INLINE BelowVisitor() {}  // see NearestVisitor()

  template <std::size_t Count>
  HWY_INLINE void centroids(std::size_t c) {
    const Tag<Real> tag;
    Vector<Real> sums[Count][kSampleVectors];
    distances<Count>(tile, first, d, values + c * d, sums);
    for (std::size_t i = 0; i < Count; ++i) {
      auto any = hn::Le(sums[i][0], limits[0]);
      for (std::size_t v = 1; v < kSampleVectors; ++v) {
        any = hn::Or(any, hn::Le(sums[i][v], limits[v]));
      }
      if (HWY_LIKELY(hn::AllFalse(tag, any))) continue;
      for (std::size_t v = 0; v < kSampleVectors; ++v) {
        below[c + i] |= bits_of(tag, hn::Le(sums[i][v], limits[v])) << (first + v * hn::Lanes(tag));
      }
    }
  }

  const TileVector<Real>* tile;
  std::size_t first, d;
  const Real* values;
  Vector<Real> limits[kSampleVectors];
  std::uint64_t* below;
};

template <class Real>
HWY_INLINE void below_in(const TileVector<Real>* tile, std::int64_t d, const Real* centroids,
                         std::int64_t m, const TileVector<Real>& limits, std::uint64_t* below) {
  const Tag<Real> tag;
  std::fill_n(below, m, 0);
  for (std::size_t first = 0; first < kTile; first += kSampleVectors * hn::Lanes(tag)) {
    BelowVisitor<Real> visitor;
    visitor.tile = tile;
    visitor.first = first;
    visitor.d = static_cast<std::size_t>(d);
    visitor.values = centroids;
    visitor.below = below;
    for (std::size_t v = 0; v < kSampleVectors; ++v) {
      visitor.limits[v] = hn::Load(tag, limits.lanes + first + v * hn::Lanes(tag));
    }
    for_each_batch(static_cast<std::size_t>(m), visitor);
  }
}

void nearest_float(const TileVector<float>* tile, std::int64_t d, const float* centroids,
                   std::int64_t m, TileNearest<float>& nearest) {
  nearest_in(tile, d, centroids, m, nearest);
}
void nearest_double(const TileVector<double>* tile, std::int64_t d, const double* centroids,
                    std::int64_t m, TileNearest<double>& nearest) {
  nearest_in(tile, d, centroids, m, nearest);
}
void below_float(const TileVector<float>* tile, std::int64_t d, const float* centroids,
                 std::int64_t m, const TileVector<float>& limits, std::uint64_t* below) {
  below_in(tile, d, centroids, m, limits, below);
}
void below_double(const TileVector<double>* tile, std::int64_t d, const double* centroids,
                  std::int64_t m, const TileVector<double>& limits, std::uint64_t* below) {
  below_in(tile, d, centroids, m, limits, below);
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lloyd_openmp {

HWY_EXPORT(nearest_float);
HWY_EXPORT(nearest_double);
HWY_EXPORT(below_float);
HWY_EXPORT(below_double);

template <>
void screen_nearest(InstructionSet set, const TileVector<float>* tile, std::int64_t d,
                    const float* centroids, std::int64_t m, TileNearest<float>& nearest) {
  LLOYD_DISPATCH(set, nearest_float)(tile, d, centroids, m, nearest);
}
template <>
void screen_nearest(InstructionSet set, const TileVector<double>* tile, std::int64_t d,
                    const double* centroids, std::int64_t m, TileNearest<double>& nearest) {
  LLOYD_DISPATCH(set, nearest_double)(tile, d, centroids, m, nearest);
}
template <>
void screen_below(InstructionSet set, const TileVector<float>* tile, std::int64_t d,
                  const float* centroids, std::int64_t m, const TileVector<float>& limits,
                  std::uint64_t* below) {
  LLOYD_DISPATCH(set, below_float)(tile, d, centroids, m, limits, below);
}
template <>
void screen_below(InstructionSet set, const TileVector<double>* tile, std::int64_t d,
                  const double* centroids, std::int64_t m, const TileVector<double>& limits,
                  std::uint64_t* below) {
  LLOYD_DISPATCH(set, below_double)(tile, d, centroids, m, limits, below);
}

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
