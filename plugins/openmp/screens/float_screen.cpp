// Compiled once per instruction set; InstructionSet selects one at run time.
#include "screens/float_screen.hpp"

#include <algorithm>
#include <iterator>

#include "common/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "screens/float_screen.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "common/vectors-inl.hpp"
#include "screens/screen_results-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

// Covers lanes [0, count) with groups of registers and calls body(group_size, first_lane) for each:
// groups of kSampleVectors, and single registers once at most half a group is left.
template <class Real, class Body>
HWY_INLINE void for_each_register_group(std::size_t count, const Body& body) {
  const std::size_t lanes = hn::Lanes(Tag<Real>());
  std::size_t first = 0;
  for (; first + kSampleVectors / 2 * lanes < count; first += kSampleVectors * lanes) {
    body(std::integral_constant<std::size_t, kSampleVectors>(), first);
  }
  for (; first < count; first += lanes) {
    body(std::integral_constant<std::size_t, 1>(), first);
  }
}

template <std::size_t Count, std::size_t Vectors, class Real>
using Scores = Vector<Real>[Count][Vectors];

// Adds the products of `features` (at least 1) features to the scores of Count centroids.
template <std::size_t Count, std::size_t Vectors, class Real>
HWY_INLINE void score_features(const Real* values, const Real* panel, std::size_t features,
                               Scores<Count, Vectors, Real>& scores) {
  const Tag<Real> tag;
  do {
    Vector<Real> y[Vectors];
    unroll<Vectors>([&](auto v) HWY_ATTR { y[v] = hn::Load(tag, values + v * hn::Lanes(tag)); });
    unroll<Count>([&](auto i) HWY_ATTR {
      const Vector<Real> factor = hn::Set(tag, panel[i]);
      unroll<Vectors>([&](auto v)
                          HWY_ATTR { scores[i][v] = hn::MulAdd(y[v], factor, scores[i][v]); });
    });
    values += kTile;
    panel += kPanelCentroids;
  } while (--features != 0);
}

// Scores Count centroids of a panel, from index c on, for the samples in Vectors registers
// from lane `first` on.
template <std::size_t Count, std::size_t Vectors, class Real>
HWY_INLINE void score_panel(const TileVector<Real>* tile, std::size_t first, std::size_t d,
                            const Real* panel, const Real* squared_norms, std::size_t c,
                            LowestTwo<Real, Vectors>& best) {
  const Tag<Real> tag;
  Scores<Count, Vectors, Real> scores;
  unroll<Count>([&](auto i) HWY_ATTR {
    const Vector<Real> norm = hn::Set(tag, squared_norms[c + i]);
    unroll<Vectors>([&](auto v) HWY_ATTR { scores[i][v] = norm; });
  });
  const Real* values = tile->lanes + first;
  score_features<Count, Vectors>(values, panel, std::min<std::size_t>(d, kScoreBlock), scores);
  for (std::size_t block = kScoreBlock; block < d; block += kScoreBlock) {
    Scores<Count, Vectors, Real> before;
    unroll<Count>([&](auto i) HWY_ATTR {
      unroll<Vectors>([&](auto v) HWY_ATTR {
        before[i][v] = scores[i][v];
        scores[i][v] = hn::Zero(tag);
      });
    });
    score_features<Count, Vectors>(values + block * kTile, panel + block * kPanelCentroids,
                                   std::min<std::size_t>(d - block, kScoreBlock), scores);
    unroll<Count>([&](auto i) HWY_ATTR {
      unroll<Vectors>([&](auto v) HWY_ATTR { scores[i][v] = hn::Add(before[i][v], scores[i][v]); });
    });
  }
  unroll<Vectors>([&](auto v) HWY_ATTR {
    unroll<Count>([&](auto i) HWY_ATTR { best.update(v, c + i, scores[i][v]); });
  });
}

// Scores the last, incomplete panel: k - c centroids, at most Count.
template <std::size_t Count, std::size_t Vectors, class Real>
HWY_INLINE void score_last_panel(const TileVector<Real>* tile, std::size_t first, std::size_t d,
                                 const Real* panel, const Real* squared_norms, std::size_t c,
                                 std::size_t k, LowestTwo<Real, Vectors>& best) {
  if constexpr (Count > 0) {
    if (k - c == Count) {
      score_panel<Count, Vectors>(tile, first, d, panel, squared_norms, c, best);
    } else {
      score_last_panel<Count - 1, Vectors>(tile, first, d, panel, squared_norms, c, k, best);
    }
  }
}

// Computes |y|^2 of the samples in Vectors registers. Four partial sums per register shorten
// the dependency chain.
template <std::size_t Vectors, class Real>
HWY_INLINE void compute_squared_norms(const TileVector<Real>* tile, std::size_t first,
                                      std::size_t d, Vector<Real> (&norms)[Vectors]) {
  constexpr std::size_t kSums = 4;
  const Tag<Real> tag;
  Vector<Real> sums[kSums][Vectors];
  unroll<kSums>([&](auto i) HWY_ATTR {
    unroll<Vectors>([&](auto v) HWY_ATTR { sums[i][v] = hn::Zero(tag); });
  });
  const auto add = [&](std::size_t j, auto i) HWY_ATTR {
    unroll<Vectors>([&](auto v) HWY_ATTR {
      const Vector<Real> y = hn::Load(tag, tile[j].lanes + first + v * hn::Lanes(tag));
      sums[i][v] = hn::MulAdd(y, y, sums[i][v]);
    });
  };
  std::size_t j = 0;
  for (; j + kSums <= d; j += kSums) unroll<kSums>([&](auto i) HWY_ATTR { add(j + i, i); });
  for (; j < d; ++j) add(j, std::integral_constant<std::size_t, 0>());
  unroll<Vectors>([&](auto v) HWY_ATTR {
    norms[v] = sums[0][v];
    if (d < kSums) return;
    norms[v] = hn::Add(hn::Add(norms[v], sums[1][v]), hn::Add(sums[2][v], sums[3][v]));
  });
}

// LowestTwo of a whole group of registers, with the template parameters of MarkedLowestTwo.
template <class Real>
using GroupLowestTwo = LowestTwo<Real, kSampleVectors>;

// LowestTwo with the index of a centroid in the low bits of its score, which saves a register and
// an operation per score.
template <class Real>
struct MarkedLowestTwo {
  using Index = hn::TFromD<SignedTag<Real>>;

  HWY_INLINE explicit MarkedLowestTwo(std::int64_t indices_in_score)
      : mask(static_cast<Index>(indices_in_score - 1)) {}

  HWY_INLINE void update(std::size_t v, std::size_t c, Vector<Real> score) {
    const SignedTag<Real> bits;
    const Vector<Real> marked =
        hn::BitCast(Tag<Real>(), hn::OrAnd(hn::Set(bits, static_cast<Index>(c)),
                                           hn::BitCast(bits, score), hn::Set(bits, ~mask)));
    best.second[v] = hn::Min(best.second[v], hn::Max(best.lowest[v], marked));
    best.lowest[v] = hn::Min(best.lowest[v], marked);
  }

  HWY_INLINE void finish(std::size_t first, const Vector<Real> (&norms)[kSampleVectors],
                         const ScoreLimit<Real>& limit, TileLabels& nearest) {
    const SignedTag<Real> bits;
    for (std::size_t v = 0; v < kSampleVectors; ++v) {
      best.index[v] = hn::And(hn::BitCast(bits, best.lowest[v]), hn::Set(bits, mask));
    }
    best.finish(first, norms, limit, nearest);
  }

  Index mask;
  LowestTwo<Real> best;
};

// Keeps the samples of D features and their lowest scores in registers. A flattened function of its
// own: otherwise GCC 12 keeps the arrays of vectors in memory.
template <std::size_t D, template <class> class LowestTwoOf, class Real>
HWY_NOINLINE HWY_FLATTEN void screen_few_features(const TileVector<Real>* tile,
                                                  const TileCentroids<Real>& centroids,
                                                  TileLabels& nearest) {
  const Tag<Real> tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto k = static_cast<std::size_t>(centroids.clusters);
  for (std::size_t first = 0; first < kTile; first += kSampleVectors * lanes) {
    Vector<Real> y[D][kSampleVectors];
    unroll<D>([&](auto j) HWY_ATTR {
      unroll<kSampleVectors>(
          [&](auto v) HWY_ATTR { y[j][v] = hn::Load(tag, tile[j].lanes + first + v * lanes); });
    });
    LowestTwoOf<Real> best(indices_in_score(centroids.clusters, D));
    const auto update = [&](std::size_t c, const Real* factors) HWY_ATTR {
      Vector<Real> scores[kSampleVectors];
      const Vector<Real> norm = hn::Set(tag, centroids.squared_norms[c]);
      unroll<kSampleVectors>([&](auto v) HWY_ATTR { scores[v] = norm; });
      unroll<D>([&](auto j) HWY_ATTR {
        const Vector<Real> factor = hn::Set(tag, factors[j * kPanelCentroids]);
        unroll<kSampleVectors>(
            [&](auto v) HWY_ATTR { scores[v] = hn::MulAdd(y[j][v], factor, scores[v]); });
      });
      unroll<kSampleVectors>([&](auto v) HWY_ATTR { best.update(v, c, scores[v]); });
    };
    const Real* panel = centroids.packed_centroids;
    std::size_t c = 0;
    for (; c + kPanelCentroids <= k; c += kPanelCentroids, panel += D * kPanelCentroids) {
      for (std::size_t i = 0; i < kPanelCentroids; ++i) update(c + i, panel + i);
    }
    for (std::size_t i = 0; c + i < k; ++i) update(c + i, panel + i);
    Vector<Real> norms[kSampleVectors];
    compute_squared_norms(tile, first, D, norms);
    best.finish(first, norms, centroids.limit, nearest);
  }
}

// Screens the samples in Vectors registers from lane `first` on.
template <std::size_t Vectors, class Real>
HWY_INLINE void screen_vectors(const TileVector<Real>* tile, std::size_t first, std::size_t d,
                               const TileCentroids<Real>& centroids, TileLabels& nearest) {
  const auto k = static_cast<std::size_t>(centroids.clusters);
  LowestTwo<Real, Vectors> best;
  const Real* panel = centroids.packed_centroids;
  std::size_t c = 0;
  for (; c + kPanelCentroids <= k; c += kPanelCentroids, panel += d * kPanelCentroids) {
    score_panel<kPanelCentroids, Vectors>(tile, first, d, panel, centroids.squared_norms, c, best);
  }
  score_last_panel<kPanelCentroids - 1, Vectors>(tile, first, d, panel, centroids.squared_norms, c,
                                                 k, best);
  Vector<Real> norms[Vectors];
  compute_squared_norms<Vectors>(tile, first, d, norms);
  best.finish(first, norms, centroids.limit, nearest);
}

template <class Real>
HWY_INLINE void screen_many_features(const TileVector<Real>* tile, std::size_t count, std::size_t d,
                                     const TileCentroids<Real>& centroids, TileLabels& nearest) {
  for_each_register_group<Real>(count, [&](auto vectors, std::size_t first) HWY_ATTR {
    screen_vectors<vectors>(tile, first, d, centroids, nearest);
  });
}

// Dispatches on the number of features, 1 to D; more are screened by screen_many_features().
template <std::size_t D, class Real>
HWY_INLINE void screen_features(const TileVector<Real>* tile, std::size_t count, std::size_t d,
                                const TileCentroids<Real>& centroids, TileLabels& nearest) {
  if constexpr (D == 0) {
    screen_many_features(tile, count, d, centroids, nearest);
  } else if (d == D) {
    if (indices_in_score(centroids.clusters, D) > 0) {
      screen_few_features<D, MarkedLowestTwo>(tile, centroids, nearest);
    } else {
      screen_few_features<D, GroupLowestTwo>(tile, centroids, nearest);
    }
  } else {
    screen_features<D - 1>(tile, count, d, centroids, nearest);
  }
}

template <class Real>
HWY_INLINE void screen(const TileVector<Real>* tile, std::int64_t count, std::int64_t features,
                       const TileCentroids<Real>& centroids, const std::int32_t* former,
                       TileLabels& nearest) {
  nearest.unproven = 0;
  // store_bounds() gathers the drift of the labels of all lanes, so unused lanes need valid labels.
  std::fill(nearest.labels + count, nearest.labels + kTile, 0);
  screen_features<static_cast<std::size_t>(kMaxRegisterFeatures)>(
      tile, static_cast<std::size_t>(count), static_cast<std::size_t>(features), centroids,
      nearest);
  find_changed(former, nearest);
}

// Squared distances of the samples in Vectors registers from lane `first` on to Count centroids:
// the definition's sums over ascending features, without fused multiply-add.
template <std::size_t Count, std::size_t Vectors>
HWY_INLINE void measure_exactly(const TileVector<double>* tile, std::size_t first, std::size_t d,
                                const double* centroids, std::size_t c,
                                LowestTwo<double, Vectors>& best) {
  const Tag<double> tag;
  const double* factors = centroids + c * d;
  Scores<Count, Vectors, double> sums;
  unroll<Count>([&](auto i) HWY_ATTR {
    unroll<Vectors>([&](auto v) HWY_ATTR { sums[i][v] = hn::Zero(tag); });
  });
  for (std::size_t j = 0; j < d; ++j) {
    unroll<Count>([&](auto i) HWY_ATTR {
      const Vector<double> value = hn::Set(tag, factors[i * d + j]);
      unroll<Vectors>([&](auto v) HWY_ATTR {
        const Vector<double> sample = hn::Load(tag, tile[j].lanes + first + v * hn::Lanes(tag));
        const Vector<double> difference = hn::Sub(sample, value);
        sums[i][v] = hn::Add(sums[i][v], hn::Mul(difference, difference));
      });
    });
  }
  unroll<Count>([&](auto i) HWY_ATTR {
    unroll<Vectors>([&](auto v) HWY_ATTR { best.update(v, c + i, sums[i][v]); });
  });
}

// Four independent sums hide the latency of the additions: with fewer registers of samples, more
// centroids are measured at a time.
void label_exactly_in(const TileVector<double>* tile, std::int64_t count, std::int64_t features,
                      const double* centroids, std::int64_t k, std::int32_t* labels) {
  const auto d = static_cast<std::size_t>(features);
  const auto clusters = static_cast<std::size_t>(k);
  for_each_register_group<double>(
      static_cast<std::size_t>(count), [&](auto vectors, std::size_t first) HWY_ATTR {
        constexpr std::size_t kSums = 4;
        static_assert(kSums % vectors == 0);
        constexpr std::size_t kCentroids = kSums / vectors;
        LowestTwo<double, vectors> best;
        std::size_t c = 0;
        for (; c + kCentroids <= clusters; c += kCentroids) {
          measure_exactly<kCentroids>(tile, first, d, centroids, c, best);
        }
        for (; c < clusters; ++c) measure_exactly<1>(tile, first, d, centroids, c, best);
        for (std::size_t v = 0; v < vectors; ++v) {
          store_index(best.index[v], labels + first + v * hn::Lanes(Tag<double>()));
        }
      });
}

void screen_float(const TileVector<float>* tile, std::int64_t count, std::int64_t d,
                  const TileCentroids<float>& centroids, const std::int32_t* former,
                  TileLabels& nearest) {
  screen(tile, count, d, centroids, former, nearest);
}
void screen_double(const TileVector<double>* tile, std::int64_t count, std::int64_t d,
                   const TileCentroids<double>& centroids, const std::int32_t* former,
                   TileLabels& nearest) {
  screen(tile, count, d, centroids, former, nearest);
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lloyd_openmp {

HWY_EXPORT(screen_float);
HWY_EXPORT(screen_double);
HWY_EXPORT(label_exactly_in);

template <>
void screen_tile(InstructionSet set, const TileVector<float>* tile, std::int64_t count,
                 std::int64_t d, const TileCentroids<float>& centroids, const std::int32_t* former,
                 TileLabels& nearest) {
  LLOYD_DISPATCH(set, screen_float)(tile, count, d, centroids, former, nearest);
}
template <>
void screen_tile(InstructionSet set, const TileVector<double>* tile, std::int64_t count,
                 std::int64_t d, const TileCentroids<double>& centroids, const std::int32_t* former,
                 TileLabels& nearest) {
  LLOYD_DISPATCH(set, screen_double)(tile, count, d, centroids, former, nearest);
}

void label_exactly(InstructionSet set, const TileVector<double>* tile, std::int64_t count,
                   std::int64_t d, const double* centroids, std::int64_t k, std::int32_t* labels) {
  LLOYD_DISPATCH(set, label_exactly_in)(tile, count, d, centroids, k, labels);
}

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
