// Compiled once for each instruction set; the best one for the machine is chosen when it runs.
#include "nearest.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nearest.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Registers for the samples of a tile, times centroids at once: as many scores as there are
// registers for beside them.
constexpr std::size_t kVectors = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM ? 4 : 2;
constexpr std::size_t kCentroids = 4;

template <class Real>
using Tag = hn::CappedTag<Real, kTile / kVectors>;
template <class Real>
using SignedTag = hn::RebindToSigned<Tag<Real>>;
template <class Real>
using Vector = hn::Vec<Tag<Real>>;

template <class D, class Mask>
HWY_INLINE std::uint64_t bits_of(D tag, Mask mask) {
  std::uint64_t bits = 0;
  std::uint8_t bytes[sizeof(bits)] = {};
  hn::StoreMaskBits(tag, mask, bytes);
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

// Least and second score of the samples in lanes [first, first + kVectors registers), and whose the
// least is.
template <class Real>
struct Leading {
  using Index = hn::TFromD<SignedTag<Real>>;

  HWY_INLINE Leading() {
    for (std::size_t v = 0; v < kVectors; ++v) {
      least[v] = second[v] = hn::Set(Tag<Real>(), std::numeric_limits<Real>::infinity());
      index[v] = hn::Zero(SignedTag<Real>());
    }
  }

  HWY_INLINE void offer(std::size_t v, std::size_t c, Vector<Real> score) {
    const auto nearer = hn::Lt(score, least[v]);
    second[v] = hn::Min(second[v], hn::Max(least[v], score));
    least[v] = hn::Min(least[v], score);
    index[v] = hn::IfThenElse(hn::RebindMask(SignedTag<Real>(), nearer),
                              hn::Set(SignedTag<Real>(), static_cast<Index>(c)), index[v]);
  }

  Vector<Real> least[kVectors], second[kVectors];
  hn::Vec<SignedTag<Real>> index[kVectors];
};

template <std::size_t Count, class Real>
HWY_INLINE void score(const TileRow<Real>* tile, std::size_t first, std::size_t d,
                      const ScreenedCentroids<Real>& centroids, std::size_t c,
                      Leading<Real>& leading) {
  const Tag<Real> tag;
  const std::size_t lanes = hn::Lanes(tag);
  const Real* factors = centroids.factors + c * d;
  Vector<Real> scores[Count][kVectors];
  for (std::size_t i = 0; i < Count; ++i) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      scores[i][v] = hn::Set(tag, centroids.squared_norms[c + i]);
    }
  }
  for (std::size_t j = 0; j < d; ++j) {
    Vector<Real> y[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      y[v] = hn::Load(tag, tile[j].lanes + first + v * lanes);
    }
    for (std::size_t i = 0; i < Count; ++i) {
      const Vector<Real> factor = hn::Set(tag, factors[i * d + j]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        scores[i][v] = hn::MulAdd(y[v], factor, scores[i][v]);
      }
    }
  }
  for (std::size_t i = 0; i < Count; ++i) {
    for (std::size_t v = 0; v < kVectors; ++v) leading.offer(v, c + i, scores[i][v]);
  }
}

HWY_INLINE void store_index(hn::Vec<SignedTag<float>> index, std::int32_t* labels) {
  hn::Store(index, SignedTag<float>(), labels);
}
HWY_INLINE void store_index(hn::Vec<SignedTag<double>> index, std::int32_t* labels) {
  const SignedTag<double> tag;
  HWY_ALIGN std::int64_t wide[kTile];
  hn::Store(index, tag, wide);
  for (std::size_t lane = 0; lane < hn::Lanes(tag); ++lane) {
    labels[lane] = static_cast<std::int32_t>(wide[lane]);
  }
}

template <class Real>
HWY_INLINE void screen(const TileRow<Real>* tile, std::int64_t features,
                       const ScreenedCentroids<Real>& centroids, const std::int32_t* former,
                       TileLabels& nearest) {
  const Tag<Real> tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto d = static_cast<std::size_t>(features);
  const auto k = static_cast<std::size_t>(centroids.clusters);
  nearest.undecided = 0;
  for (std::size_t first = 0; first < kTile; first += kVectors * lanes) {
    Leading<Real> leading;
    std::size_t c = 0;
    for (; c + kCentroids <= k; c += kCentroids)
      score<kCentroids>(tile, first, d, centroids, c, leading);
    for (; c < k; ++c) score<1>(tile, first, d, centroids, c, leading);
    Vector<Real> norms[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) norms[v] = hn::Zero(tag);
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        const Vector<Real> y = hn::Load(tag, tile[j].lanes + first + v * lanes);
        norms[v] = hn::MulAdd(y, y, norms[v]);
      }
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t at = first + v * lanes;
      const Vector<Real> limit =
          hn::MulAdd(norms[v], hn::Set(tag, centroids.square),
                     hn::MulAdd(hn::Sqrt(norms[v]), hn::Set(tag, centroids.slope),
                                hn::Set(tag, centroids.base)));
      const auto proven = hn::Gt(hn::Sub(leading.second[v], leading.least[v]), limit);
      nearest.undecided |= bits_of(tag, hn::Not(proven)) << at;
      store_index(leading.index[v], nearest.labels + at);
    }
  }
  const hn::CappedTag<std::int32_t, kTile> labels;
  nearest.changed = 0;
  for (std::size_t at = 0; at < kTile; at += hn::Lanes(labels)) {
    const auto differs =
        hn::Ne(hn::Load(labels, nearest.labels + at), hn::LoadU(labels, former + at));
    nearest.changed |= bits_of(labels, differs) << at;
  }
}

// One centroid after another: a sum over ascending features, each operation rounded.
void define_nearest_in(const TileRow<double>* tile, std::int64_t features, const double* centroids,
                       std::int64_t k, std::int32_t* labels) {
  const Tag<double> tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto d = static_cast<std::size_t>(features);
  for (std::size_t first = 0; first < kTile; first += kVectors * lanes) {
    Leading<double> leading;
    for (std::size_t c = 0; c < static_cast<std::size_t>(k); ++c) {
      Vector<double> sums[kVectors];
      for (std::size_t v = 0; v < kVectors; ++v) sums[v] = hn::Zero(tag);
      for (std::size_t j = 0; j < d; ++j) {
        const Vector<double> value = hn::Set(tag, centroids[c * d + j]);
        for (std::size_t v = 0; v < kVectors; ++v) {
          const Vector<double> difference =
              hn::Sub(hn::Load(tag, tile[j].lanes + first + v * lanes), value);
          sums[v] = hn::Add(sums[v], hn::Mul(difference, difference));
        }
      }
      for (std::size_t v = 0; v < kVectors; ++v) leading.offer(v, c, sums[v]);
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
      store_index(leading.index[v], labels + first + v * lanes);
    }
  }
}

void screen_float(const TileRow<float>* tile, std::int64_t d,
                  const ScreenedCentroids<float>& centroids, const std::int32_t* former,
                  TileLabels& nearest) {
  screen(tile, d, centroids, former, nearest);
}
void screen_double(const TileRow<double>* tile, std::int64_t d,
                   const ScreenedCentroids<double>& centroids, const std::int32_t* former,
                   TileLabels& nearest) {
  screen(tile, d, centroids, former, nearest);
}

#if HWY_TARGET != HWY_SCALAR

// Four values of each fourth row, from the first on.
template <class D>
HWY_INLINE hn::Vec<D> load_fourth_rows(D tag, const float* rows, std::int64_t stride) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(tag, rows);
  } else {
    const hn::Half<D> half;
    const float* upper = rows + static_cast<std::int64_t>(hn::MaxLanes(D())) / 2 * stride;
    return hn::Combine(tag, load_fourth_rows(half, upper, stride),
                       load_fourth_rows(half, rows, stride));
  }
}

// Features j to j + 3 of as many rows as there are lanes.
template <class D>
HWY_INLINE void transpose(D tag, const float* rows, std::int64_t stride,
                          hn::Vec<D> (&features)[4]) {
  const hn::RepartitionToWide<D> pairs;
  const auto row0 = load_fourth_rows(tag, rows, stride);
  const auto row1 = load_fourth_rows(tag, rows + stride, stride);
  const auto row2 = load_fourth_rows(tag, rows + 2 * stride, stride);
  const auto row3 = load_fourth_rows(tag, rows + 3 * stride, stride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(tag, row0, row1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(tag, row2, row3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(tag, row0, row1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(tag, row2, row3));
  features[0] = hn::BitCast(tag, hn::InterleaveLower(pairs, low01, low23));
  features[1] = hn::BitCast(tag, hn::InterleaveUpper(pairs, low01, low23));
  features[2] = hn::BitCast(tag, hn::InterleaveLower(pairs, high01, high23));
  features[3] = hn::BitCast(tag, hn::InterleaveUpper(pairs, high01, high23));
}

// A whole tile of float32 samples. d >= 4, or 2 or 3 with rows that follow one another. False where
// there is nothing to gain.
bool load_whole(const float* samples, std::int64_t stride, std::int64_t d, const float* origin,
                TileRow<float>* tile) {
  const hn::CappedTag<float, 16> tag;
  const std::size_t lanes = hn::Lanes(tag);
  for (std::size_t at = 0; at < kTile; at += lanes) {
    hn::Vec<decltype(tag)> x[4];
    const float* rows = samples + static_cast<std::int64_t>(at) * stride;
    if (d == 2) {
      hn::LoadInterleaved2(tag, rows, x[0], x[1]);
    } else if (d == 3) {
      hn::LoadInterleaved3(tag, rows, x[0], x[1], x[2]);
    }
    for (std::int64_t done = 0; done < d; done += 4) {
      // The last four overlap the ones before where d is no multiple of 4.
      const std::int64_t first = d < 4 ? 0 : std::min(done, d - 4);
      if (d >= 4) transpose(tag, rows + first, stride, x);
      for (std::int64_t j = 0; j < std::min<std::int64_t>(d, 4); ++j) {
        hn::Store(hn::Sub(x[j], hn::Set(tag, origin[first + j])), tag, tile[first + j].lanes + at);
      }
    }
  }
  return true;
}

#else

bool load_whole(const float*, std::int64_t, std::int64_t, const float*, TileRow<float>*) {
  return false;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lloyd_openmp {

HWY_EXPORT(screen_float);
HWY_EXPORT(screen_double);
HWY_EXPORT(define_nearest_in);
HWY_EXPORT(load_whole);

template <>
void screen_nearest(const TileRow<float>* tile, std::int64_t d,
                    const ScreenedCentroids<float>& centroids, const std::int32_t* former,
                    TileLabels& nearest) {
  HWY_DYNAMIC_DISPATCH(screen_float)(tile, d, centroids, former, nearest);
}
template <>
void screen_nearest(const TileRow<double>* tile, std::int64_t d,
                    const ScreenedCentroids<double>& centroids, const std::int32_t* former,
                    TileLabels& nearest) {
  HWY_DYNAMIC_DISPATCH(screen_double)(tile, d, centroids, former, nearest);
}

void define_nearest(const TileRow<double>* tile, std::int64_t d, const double* centroids,
                    std::int64_t k, std::int32_t* labels) {
  HWY_DYNAMIC_DISPATCH(define_nearest_in)(tile, d, centroids, k, labels);
}

template <class T, class Real>
void load_tile(const T* samples, std::int64_t stride, std::int64_t rows, std::int64_t d,
               const Real* origin, TileRow<Real>* tile) {
  if constexpr (sizeof(T) == sizeof(float) && sizeof(Real) == sizeof(float)) {
    if (rows == kTile && (d >= 4 || (d >= 2 && stride == d))) {
      if (HWY_DYNAMIC_DISPATCH(load_whole)(samples, stride, d, origin, tile)) return;
    }
  }
  // Blocks of features, so that each line of a sample is read once.
  constexpr std::int64_t kFeatures = 16;
  for (std::int64_t begin = 0; begin < d; begin += kFeatures) {
    const std::int64_t end = std::min(begin + kFeatures, d);
    for (std::int64_t lane = 0; lane < kTile; ++lane) {
      const T* sample = samples + (lane < rows ? lane : 0) * stride;
      for (std::int64_t j = begin; j < end; ++j) {
        tile[j].lanes[lane] = static_cast<Real>(sample[j]) - origin[j];
      }
    }
  }
}

template void load_tile(const float*, std::int64_t, std::int64_t, std::int64_t, const float*,
                        TileRow<float>*);
template void load_tile(const float*, std::int64_t, std::int64_t, std::int64_t, const double*,
                        TileRow<double>*);
template void load_tile(const double*, std::int64_t, std::int64_t, std::int64_t, const double*,
                        TileRow<double>*);

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
