// Results of the screens that compute scores: the two lowest scores per sample, labels and bounds.
// Included once per instruction set, after vector_targets.hpp.
#if defined(LLOYD_OPENMP_SCREEN_RESULTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LLOYD_OPENMP_SCREEN_RESULTS_INL_HPP
#undef LLOYD_OPENMP_SCREEN_RESULTS_INL_HPP
#else
#define LLOYD_OPENMP_SCREEN_RESULTS_INL_HPP
#endif

#include <cstdint>
#include <limits>

#include "bounds/bounds.hpp"
#include "common/score_limit.hpp"
#include "common/tile_labels.hpp"
#include "common/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

HWY_INLINE void store_float(Vector<float> values, float* to) {
  hn::Store(values, Tag<float>(), to);
}
HWY_INLINE void store_float(Vector<double> values, float* to) {
  HWY_ALIGN double wide[kTile];
  hn::Store(values, Tag<double>(), wide);
  constexpr double kMaxFloat = std::numeric_limits<float>::max();
  for (std::size_t lane = 0; lane < hn::Lanes(Tag<double>()); ++lane) {
    to[lane] = wide[lane] < kMaxFloat ? static_cast<float>(wide[lane])
                                      : std::numeric_limits<float>::infinity();
  }
}

// Stores distance bounds, from bounds on the squared distances. The stored bounds include the
// rounding error of this function.
template <class Real>
HWY_INLINE void finish_bounds(Vector<Real> squared_upper, Vector<Real> squared_lower,
                              std::size_t at, TileBounds& bounds) {
  const Tag<Real> tag;
  const auto root = [tag](Vector<Real> square)
                        HWY_ATTR { return hn::Sqrt(hn::Max(square, hn::Zero(tag))); };
  const auto tiny = hn::Set(tag, static_cast<Real>(kTinyDistance));
  const auto upper =
      hn::MulAdd(root(squared_upper), hn::Set(tag, static_cast<Real>(1 + kBoundExcess)), tiny);
  const auto lower =
      hn::MulSub(root(squared_lower), hn::Set(tag, static_cast<Real>(1 - kBoundExcess)), tiny);
  store_float(upper, bounds.upper + at);
  // Capped, so that adding drift cannot overflow.
  const auto cap = hn::Set(tag, static_cast<Real>(std::numeric_limits<float>::max() / 2));
  store_float(hn::Min(hn::Max(lower, hn::Zero(tag)), cap), bounds.lower + at);
}

// The lowest and second lowest score of the samples in Vectors registers, and the index of the
// lowest.
template <class Real, std::size_t Vectors = kSampleVectors>
struct LowestTwo {
  using Index = hn::TFromD<SignedTag<Real>>;

  // Takes an argument so that a template can use either this or MarkedLowestTwo.
  HWY_INLINE explicit LowestTwo(std::int64_t /*indices_in_score*/) : LowestTwo() {}

  HWY_INLINE LowestTwo() {
    for (std::size_t v = 0; v < Vectors; ++v) {
      lowest[v] = second[v] = hn::Set(Tag<Real>(), std::numeric_limits<Real>::infinity());
      index[v] = hn::Zero(SignedTag<Real>());
    }
  }

  HWY_INLINE void update(std::size_t v, std::size_t c, Vector<Real> score) {
    const auto nearer = hn::Lt(score, lowest[v]);
    second[v] = hn::Min(second[v], hn::Max(lowest[v], score));
    lowest[v] = hn::Min(lowest[v], score);
    index[v] = hn::IfThenElse(hn::RebindMask(SignedTag<Real>(), nearer),
                              hn::Set(SignedTag<Real>(), static_cast<Index>(c)), index[v]);
  }

  // Stores the labels of lanes [first, first + Vectors registers). A label is proven if the
  // second score is far enough above the lowest. `norms`: |y|^2.
  HWY_INLINE void finish(std::size_t first, const Vector<Real> (&norms)[Vectors],
                         const ScoreLimit<Real>& limit, TileLabels& nearest) const {
    const Tag<Real> tag;
    for (std::size_t v = 0; v < Vectors; ++v) {
      const std::size_t at = first + v * hn::Lanes(tag);
      const Vector<Real> gap = hn::MulAdd(
          norms[v], hn::Set(tag, limit.square),
          hn::MulAdd(hn::Sqrt(norms[v]), hn::Set(tag, limit.slope), hn::Set(tag, limit.base)));
      const auto proven = hn::Gt(hn::Sub(second[v], lowest[v]), gap);
      nearest.unproven |= bits_of(tag, hn::Not(proven)) << at;
      store_index(index[v], nearest.labels + at);
      if (nearest.bounds == nullptr) continue;
      // The error of a score is at most half of the gap; the other half covers the roundings here.
      const Vector<Real> excess = hn::MulAdd(norms[v], hn::Set(tag, limit.norm_excess), gap);
      finish_bounds<Real>(hn::Add(hn::Add(norms[v], lowest[v]), excess),
                          hn::Sub(hn::Add(norms[v], second[v]), excess), at, *nearest.bounds);
    }
  }

  Vector<Real> lowest[Vectors], second[Vectors];
  hn::Vec<SignedTag<Real>> index[Vectors];
};

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#endif
