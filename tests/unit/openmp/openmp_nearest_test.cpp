// Labels proven by the screens of the openmp plugin, and labels of the exact fallback.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/sdk/distance.hpp>

#include "openmp/bounds/bounds.hpp"
#include "openmp/common/instruction_set.hpp"
#include "openmp/screens/float_screen.hpp"
#include "openmp/screens/integer_rounding.hpp"
#include "openmp/screens/integer_screen.hpp"
#include "openmp/screens/row_screen.hpp"
#include "openmp/screens/score_screen.hpp"
#include "unit/openmp/openmp_instruction_sets.hpp"

namespace lloyd_openmp {
namespace {

// n x d samples and k x d centroids.
template <class T>
struct Case {
  std::int64_t d, k;
  std::vector<T> samples;
  std::vector<double> centroids;

  std::int64_t n() const { return std::ssize(samples) / d; }
  std::int32_t defined(std::int64_t i) const {
    return lloyd::nearest_centroid(samples.data() + i * d, centroids.data(), k, d).label;
  }
};

enum class Screen { tiles, rows, integers };

// Screens up to a tile of samples with one of the three screens.
template <class T>
class Screener {
 public:
  Screener(const lloyd::DatasetView& view, const double* centroids, std::int64_t k, Screen kind,
           InstructionSet set)
      : view_(view),
        screen_(view),
        kind_(kind),
        set_(set),
        tile_(static_cast<std::size_t>(view.features)),
        pairs_(pair_lines(view.features)),
        norms_(static_cast<std::size_t>(k)) {
    screen_.set_centroids(centroids, k,
                          kind == Screen::rows ? row_chain_length(set, view.features) : 0);
    can_screen_ = screen_.can_screen();
    if constexpr (std::is_same_v<T, float>) {
      if (!can_screen_ || kind != Screen::integers) return;
      integers_.set_centroids(set_, centroids, k, view.features, screen_.origin(),
                              screen_.radius());
      can_screen_ = integers_.can_screen();
    }
  }

  bool can_screen() const { return can_screen_; }

  TileLabels operator()(std::int64_t begin, std::int64_t rows, const std::int32_t* former,
                        TileBounds& bounds) {
    const std::int64_t d = view_.features;
    const T* samples = static_cast<const T*>(view_.data) + begin * view_.stride;
    TileLabels nearest;
    std::fill_n(nearest.labels, kTile, -1);
    nearest.bounds = &bounds;
    if constexpr (std::is_same_v<T, float>) {
      if (kind_ == Screen::rows) {
        const T* of_rows[kTile + kInterleavedRows];
        for (std::int64_t lane = 0; lane < kTile + kInterleavedRows; ++lane) {
          of_rows[lane] = samples + std::min(lane, rows - 1) * view_.stride;
        }
        screen_rows(set_, of_rows, d, screen_.row_centroids(), former, nearest);
        return nearest;
      }
    }
    load_tile(set_, samples, view_.stride, rows, d, screen_.origin(), tile_.data());
    if constexpr (std::is_same_v<T, float>) {
      if (kind_ == Screen::integers) {
        IntegerTile integers{pairs_.data(), &squares_[0], &squares_[1], 0, 0};
        const double radius = integers_.centroids().radius;
        // Alternates between both ways of rounding if both are supported.
        if (begin / kTile % 2 == 0 && can_round_rows(set_, d)) {
          const T* of_rows[kTile];
          for (std::int64_t lane = 0; lane < kTile; ++lane) {
            of_rows[lane] = samples + std::min(lane, rows - 1) * view_.stride;
          }
          round_rows(set_, of_rows, d, screen_.origin(), radius, integers);
        } else {
          round_tile(set_, tile_.data(), d, radius, integers);
        }
        screen_integers(set_, integers, d, integers_.centroids(), former, norms_.data(), nearest);
        return nearest;
      }
    }
    screen_tile(set_, tile_.data(), rows, d, screen_.centroids(), former, nearest);
    return nearest;
  }

 private:
  lloyd::DatasetView view_;
  ScoreScreen<T> screen_;
  IntegerScreen integers_;
  Screen kind_;
  InstructionSet set_;
  std::vector<TileVector<T>> tile_;
  std::vector<PairLine> pairs_;
  std::vector<std::int32_t> norms_;
  TileVector<float> squares_[2];
  bool can_screen_;
};

// Expects the bounds of a proven sample to hold and to be tight. `spread`: upper bound on the
// squared distance between two samples.
template <class T>
void check_bounds(const Case<T>& given, long double spread, std::int64_t i, std::int32_t label,
                  float upper, float lower) {
  long double own = 0, other = std::numeric_limits<float>::max() / 2, farthest = 0;
  for (std::int64_t c = 0; c < given.k; ++c) {
    long double squared = 0;
    for (std::int64_t j = 0; j < given.d; ++j) {
      const long double difference =
          static_cast<long double>(given.samples[static_cast<std::size_t>(i * given.d + j)]) -
          given.centroids[static_cast<std::size_t>(c * given.d + j)];
      squared += difference * difference;
    }
    const long double distance = std::sqrt(squared);
    farthest = std::max(farthest, distance);
    if (c == label) {
      own = distance;
    } else {
      other = std::min(other, distance);
    }
  }
  // Tolerances are those of squared distances, as for scores.
  const long double off = 1e-3L * (farthest * farthest + spread) + 1e-29L;
  const auto squared = [](long double value) { return value * value; };
  EXPECT_GE(upper, own) << i;
  EXPECT_LE(squared(upper), squared(own) + off) << i;
  EXPECT_LE(lower, other) << i;
  if (given.k > 1) {
    EXPECT_GE(squared(lower), squared(other) - off) << i;
  }
}

// Screens all samples with each instruction set and returns the smallest number of proven labels;
// -1: the centroids cannot be screened. Expects proven labels to be exact, with valid bounds.
template <class T>
std::int64_t check_screen(const Case<T>& given, Screen kind = Screen::tiles) {
  const lloyd::Dataset data("samples",
                            lloyd::Matrix::from_values(given.samples, given.n(), given.d));
  const std::vector<std::int32_t> former(kTile, 0);
  const auto [lowest, highest] = std::minmax_element(given.samples.begin(), given.samples.end());
  const long double range = static_cast<long double>(*highest) - *lowest;
  const long double spread = range * range * static_cast<long double>(given.d);
  std::int64_t least = given.n();
  for (const InstructionSet set : instruction_sets()) {
    Screener<T> screen(data.view(), given.centroids.data(), given.k, kind, set);
    if (!screen.can_screen()) return -1;
    std::int64_t proven = 0;
    for (std::int64_t begin = 0; begin < given.n(); begin += kTile) {
      const std::int64_t rows = std::min(kTile, given.n() - begin);
      TileBounds bounds;
      const TileLabels nearest = screen(begin, rows, former.data(), bounds);
      for (std::int64_t lane = 0; lane < rows; ++lane) {
        EXPECT_EQ((nearest.changed >> lane & 1) != 0, nearest.labels[lane] != 0);
        if ((nearest.unproven >> lane & 1) != 0) continue;
        ++proven;
        EXPECT_EQ(nearest.labels[lane], given.defined(begin + lane))
            << "sample " << begin + lane << ", set " << set.index();
        check_bounds(given, spread, begin + lane, nearest.labels[lane], bounds.upper[lane],
                     bounds.lower[lane]);
      }
    }
    least = std::min(least, proven);
  }
  return least;
}

template <class T>
Case<T> blobs(std::int64_t n, std::int64_t d, std::int64_t k, double scale, double offset) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  Case<T> made{d, k, {}, {}};
  for (std::int64_t i = 0; i < k * d; ++i)
    made.centroids.push_back(offset + 3 * scale * normal(random));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < d; ++j) {
      const double centre = made.centroids[static_cast<std::size_t>(i % k * d + j)];
      made.samples.push_back(static_cast<T>(centre + scale * normal(random)));
    }
  }
  return made;
}

// Samples equidistant from two centroids, and a few units in the last place off.
template <class T>
Case<T> near_ties(std::int64_t d, double offset) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  Case<T> made{d, 6, {}, {}};
  for (std::int64_t i = 0; i < made.k * d; ++i) made.centroids.push_back(offset + normal(random));
  // Two equal centroids: the lower index wins.
  std::copy_n(made.centroids.begin(), d, made.centroids.begin() + 5 * d);
  for (int i = 0; i < 2000; ++i) {
    const double* a = made.centroids.data() + static_cast<std::int64_t>(random() % 6) * d;
    const double* b = made.centroids.data() + static_cast<std::int64_t>(random() % 6) * d;
    for (std::int64_t j = 0; j < d; ++j) {
      T value = static_cast<T>((a[j] + b[j]) / 2);
      for (auto steps = random() % 4; steps > 0; --steps) {
        value = std::nextafter(value, random() % 2 != 0 ? T(1e9) : T(-1e9));
      }
      made.samples.push_back(value);
    }
  }
  return made;
}

template <class T>
class OpenmpNearest : public testing::Test {};
using Types = testing::Types<float, double>;
class TypeNames {
 public:
  template <class T>
  static std::string GetName(int) {
    return sizeof(T) == sizeof(float) ? "float32" : "float64";
  }
};
TYPED_TEST_SUITE(OpenmpNearest, Types, TypeNames);

TYPED_TEST(OpenmpNearest, TilesAreTheSamplesLessTheOrigin) {
  std::mt19937 random(3);
  for (std::int64_t d = 1; d <= 21; ++d) {
    for (const std::int64_t stride : {d, d + 3}) {
      std::vector<TypeParam> samples;
      for (std::int64_t i = 0; i < kTile * stride; ++i) {
        samples.push_back(static_cast<TypeParam>(random() % 1000));
      }
      std::vector<TypeParam> origin;
      for (std::int64_t j = 0; j < d; ++j) origin.push_back(static_cast<TypeParam>(j));
      for (const std::int64_t rows : {kTile, std::int64_t{5}}) {
        std::vector<TileVector<TypeParam>> tile(static_cast<std::size_t>(d));
        // Exact size, so that reading beyond the end is detected.
        const std::vector<TypeParam> exactly(samples.begin(),
                                             samples.begin() + (rows - 1) * stride + d);
        load_tile(InstructionSet(), exactly.data(), stride, rows, d, origin.data(), tile.data());
        for (std::int64_t lane = 0; lane < rows; ++lane) {
          for (std::int64_t j = 0; j < d; ++j) {
            ASSERT_EQ(tile[static_cast<std::size_t>(j)].lanes[lane],
                      exactly[static_cast<std::size_t>(lane * stride + j)] -
                          origin[static_cast<std::size_t>(j)])
                << "d " << d << ", stride " << stride << ", lane " << lane << ", feature " << j;
          }
        }
      }
    }
  }
}

TYPED_TEST(OpenmpNearest, ProvenLabelsAreExact) {
  for (const std::int64_t d : {1, 2, 3, 4, 5, 16, 33, 128}) {
    for (const std::int64_t k : {1, 2, 5, 33}) {
      for (const double scale : {1.0, 1e-12, 1e12}) {
        // Float32 scores with indices in their low bits prove fewer labels.
        const bool marked = sizeof(TypeParam) == sizeof(float) && indices_in_score(k, d) > 16;
        EXPECT_GE(check_screen(blobs<TypeParam>(300, d, k, scale, 0)), marked ? 285 : 290)
            << d << ' ' << k;
      }
      check_screen(blobs<TypeParam>(300, d, k, 1, 1e6));
      check_screen(blobs<TypeParam>(300, d, k, 1e-19, 0));  // squares near the smallest numbers
    }
  }
}

TYPED_TEST(OpenmpNearest, TiesAreNotProven) {
  for (const std::int64_t d : {1, 2, 3, 8, 40}) {
    for (const double offset : {0.0, 100.0, 1e6}) {
      const Case<TypeParam> ties = near_ties<TypeParam>(d, offset);
      EXPECT_LT(check_screen(ties), ties.n()) << d << ' ' << offset;
    }
  }
}

TYPED_TEST(OpenmpNearest, SamplesOfPartOfATileGetTheSameResults) {
  for (const std::int64_t d : {3, 20}) {
    const Case<TypeParam> given = blobs<TypeParam>(kTile, d, 10, 1, 0);
    const lloyd::Dataset data("samples",
                              lloyd::Matrix::from_values(given.samples, given.n(), given.d));
    const std::vector<std::int32_t> former(kTile, 0);
    for (const InstructionSet set : instruction_sets()) {
      Screener<TypeParam> screen(data.view(), given.centroids.data(), given.k, Screen::tiles, set);
      TileBounds whole_bounds;
      const TileLabels whole = screen(0, kTile, former.data(), whole_bounds);
      for (std::int64_t count = 1; count < kTile; ++count) {
        TileBounds bounds;
        const TileLabels part = screen(0, count, former.data(), bounds);
        EXPECT_EQ((part.unproven ^ whole.unproven) & lane_mask(count), 0U);
        for (std::int64_t lane = 0; lane < count; ++lane) {
          ASSERT_EQ(part.labels[lane], whole.labels[lane]) << count << ' ' << lane;
          ASSERT_EQ(bounds.upper[lane], whole_bounds.upper[lane]) << count << ' ' << lane;
          ASSERT_EQ(bounds.lower[lane], whole_bounds.lower[lane]) << count << ' ' << lane;
        }
        for (std::int64_t lane = count; lane < kTile; ++lane) {
          ASSERT_GE(part.labels[lane], 0) << count << ' ' << lane;
          ASSERT_LT(part.labels[lane], given.k) << count << ' ' << lane;
        }
      }
    }
  }
}

TEST(OpenmpRows, ProvenLabelsAreExact) {
  for (const std::int64_t d : {16, 17, 31, 33, 128, 200}) {
    for (const std::int64_t k : {1, 2, 5, 6, 7, 13, 32}) {
      for (const double scale : {1.0, 1e-12, 1e12}) {
        EXPECT_GE(check_screen(blobs<float>(300, d, k, scale, 0), Screen::rows), 290)
            << d << ' ' << k;
      }
      check_screen(blobs<float>(300, d, k, 1, 1e6), Screen::rows);
      check_screen(blobs<float>(300, d, k, 1e-19, 0), Screen::rows);
    }
  }
  for (const std::int64_t d : {16, 40}) {
    const Case<float> ties = near_ties<float>(d, 1);
    EXPECT_LT(check_screen(ties, Screen::rows), ties.n());
  }
}

TEST(OpenmpIntegers, ProvenLabelsAreExact) {
  for (const std::int64_t d : {1, 2, 3, 4, 5, 16, 33, 128, 1000}) {
    for (const std::int64_t k : {2, 5, 33}) {
      for (const double scale : {1.0, 1e-8, 1e6}) {
        EXPECT_GE(check_screen(blobs<float>(300, d, k, scale, 0), Screen::integers), 240)
            << d << ' ' << k << ' ' << scale;
      }
      check_screen(blobs<float>(300, d, k, 1, 1e6), Screen::integers);
    }
  }
}

// Panels that are full, or have one centroid more or less.
TEST(OpenmpIntegers, TakePanelsOfAnySize) {
  for (std::int64_t k = 1; k <= 27; ++k) {
    EXPECT_GE(check_screen(blobs<float>(300, 20, k, 1, 0), Screen::integers), 290) << k;
  }
}

// More centroids than the 8 index bits of a score can number.
TEST(OpenmpIntegers, DistinguishManyCentroids) {
  for (const std::int64_t k : {251, 252, 253, 259, 504, 700}) {
    EXPECT_GE(check_screen(blobs<float>(900, 16, k, 1, 0), Screen::integers), 850) << k;
  }
}

TEST(OpenmpIntegers, TiesAreNotProven) {
  for (const std::int64_t d : {1, 2, 3, 8, 40}) {
    for (const double offset : {0.0, 100.0, 1e6}) {
      const Case<float> ties = near_ties<float>(d, offset);
      EXPECT_LT(check_screen(ties, Screen::integers), ties.n()) << d << ' ' << offset;
    }
  }
}

// Centroids on the diagonal at `values`, and samples on both sides at `scale` times the largest
// value.
Case<float> on_diagonal(std::int64_t d, const std::vector<double>& values, float scale) {
  Case<float> made{d, std::ssize(values), {}, {}};
  for (const double value : values) {
    for (std::int64_t j = 0; j < d; ++j) made.centroids.push_back(value);
  }
  for (int i = 0; i < 40; ++i) {
    const float value = static_cast<float>(i % 2 == 0 ? 1 : -1) * (i < 20 ? 1.0F : 0.999F);
    for (std::int64_t j = 0; j < d; ++j) made.samples.push_back(scale * value);
  }
  return made;
}

// 32-bit sums come closest to their limits if a sample and a centroid are both farthest from the
// origin, in one component or in all, in the same or opposite directions.
TEST(OpenmpIntegers, HoldTheGreatestScores) {
  for (const std::int64_t d : {1, 2, 7, 64, 4096}) {
    for (const float scale : {1.0F, 2.0F, 100.0F, 0.01F}) {
      const Case<float> made = on_diagonal(d, {1.0, -1.0, 0.5, 0.0}, scale);
      EXPECT_EQ(check_screen(made, Screen::integers), made.n()) << d << ' ' << scale;
    }
  }
}

// With one centroid the second score is a placeholder, whose distance to the greatest exceeds 31
// bits.
TEST(OpenmpIntegers, ProveTheOnlyCentroid) {
  for (const std::int64_t d : {1, 2, 7, 64}) {
    for (const float scale : {1.0F, 2.0F, 100.0F, 0.01F}) {
      const Case<float> made = on_diagonal(d, {1.0}, scale);
      EXPECT_EQ(check_screen(made, Screen::integers), made.n()) << d << ' ' << scale;
    }
  }
}

// Units below the normal numbers, or sums that would overflow.
TEST(OpenmpIntegers, AreNotUsedForDataTheyCannotHold) {
  EXPECT_EQ(check_screen(blobs<float>(100, 3, 4, 1e-12, 0), Screen::integers), -1);
  EXPECT_EQ(check_screen(blobs<float>(100, 3, 4, 1e12, 0), Screen::integers), -1);
  EXPECT_EQ(check_screen(blobs<float>(100, 4097, 4, 1, 0), Screen::integers), -1);
  Case<float> at_origin = blobs<float>(100, 3, 1, 1, 0);
  const lloyd::Dataset data(
      "samples", lloyd::Matrix::from_values(at_origin.samples, at_origin.n(), at_origin.d));
  const ScoreScreen<float> screen(data.view());
  at_origin.centroids.assign(screen.origin(), screen.origin() + 3);
  EXPECT_EQ(check_screen(at_origin, Screen::integers), -1);
}

// The core refuses such data in float64.
TEST(OpenmpScreen, IsNotUsedForDataThatCouldOverflow) {
  EXPECT_EQ(check_screen(blobs<float>(100, 3, 4, 1e19, 0)), -1);
  EXPECT_GE(check_screen(blobs<float>(100, 3, 4, 1e16, 0)), 90);
}

TEST(OpenmpDefinition, IsTheDefinition) {
  for (const std::int64_t d : {1, 3, 17}) {
    const Case<double> ties = near_ties<double>(d, 1);
    std::vector<TileVector<double>> tile(static_cast<std::size_t>(d));
    const std::vector<double> origin(static_cast<std::size_t>(d));
    for (std::int64_t begin = 0; begin + kTile <= ties.n(); begin += kTile) {
      const InstructionSet best;
      load_tile(best, ties.samples.data() + begin * d, d, kTile, d, origin.data(), tile.data());
      for (const InstructionSet set : instruction_sets()) {
        for (std::int64_t count = 1; count <= kTile; ++count) {
          alignas(64) std::int32_t labels[kTile];
          std::fill_n(labels, kTile, -1);
          label_exactly(set, tile.data(), count, d, ties.centroids.data(), ties.k, labels);
          for (std::int64_t lane = 0; lane < count; ++lane) {
            ASSERT_EQ(labels[lane], ties.defined(begin + lane));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace lloyd_openmp
