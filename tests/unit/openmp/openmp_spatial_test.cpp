// Spatial order of the openmp plugin: tiles, boxes, and exact labels.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>
#include <lloyd/plugin/sdk/distance.hpp>

#include "openmp/assignment.hpp"
#include "openmp/screens/score_screen.hpp"
#include "openmp/spatial/box_screen.hpp"
#include "openmp/spatial/spatial_tiles.hpp"
#include "unit/openmp/openmp_expected_sums.hpp"
#include "unit/openmp/openmp_instruction_sets.hpp"

namespace lloyd_openmp {
namespace {

// Samples of the given kind, in float64.
std::vector<double> samples_of(const std::string& kind, std::int64_t n, std::int64_t d) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> samples;
  for (std::int64_t i = 0; i < n * d; ++i) {
    if (kind == "blob") {
      samples.push_back(normal(random));
    } else if (kind == "far blob") {
      samples.push_back(1e4 + normal(random));
    } else if (kind == "lattice") {
      samples.push_back(static_cast<double>(random() % 9));  // equidistant from many centroids
    } else if (kind == "equal") {
      samples.push_back(3);
    } else if (kind == "outliers") {
      samples.push_back(normal(random) * (i % 97 == 0 ? 1e6 : 1));
    } else {
      samples.push_back(i % d == 0 ? normal(random) : 0);  // a line
    }
  }
  return samples;
}
constexpr const char* kKinds[] = {"blob", "far blob", "lattice", "equal", "outliers", "line"};

template <class T>
lloyd::Dataset dataset_of(const std::vector<double>& samples, std::int64_t d) {
  const std::vector<T> values(samples.begin(), samples.end());
  const auto n = static_cast<std::int64_t>(samples.size()) / d;
  return lloyd::Dataset("samples", lloyd::Matrix::from_values(values, n, d));
}

template <class T>
std::vector<T> means_of(const lloyd::DatasetView& view) {
  std::vector<T> means;
  for (std::int64_t j = 0; j < view.features; ++j) {
    means.push_back(static_cast<T>(view.statistics[j].mean));
  }
  return means;
}

// Expects every row exactly once, unchanged, and inside the boxes of its tile and group. Returns
// the mean volume of the boxes.
template <class T>
double check_tiles(const lloyd::DatasetView& view, int threads) {
  const std::vector<T> origin = means_of<T>(view);
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < view.samples; ++i)
    labels.push_back(static_cast<std::int32_t>(i % 5));
  SpatialTiles<T> tiles;
  SpatialOrder<T> order;
  order.reserve(view.samples);
  lloyd::ThreadTeam team(threads);
  tiles.presort(view, labels.data(), team);
  std::vector<int> seen(static_cast<std::size_t>(view.samples));
  double volume = 0;
  constexpr std::int64_t kPart = 5 * SpatialTiles<T>::kGroupSamples;
  for (std::int64_t begin = 0; begin < view.samples; begin += kPart) {
    const lloyd::RowRange places{begin, std::min(begin + kPart, view.samples)};
    tiles.build(InstructionSet(), view, places, origin.data(), order);
    EXPECT_EQ(tiles.part(begin).positions, places.size());
    for (std::int64_t t = begin / kTile; t * kTile < places.end; ++t) {
      const SpatialTile<T>& tile = tiles.tile(t);
      EXPECT_EQ(tile.count, std::min(kTile, places.end - t * kTile));
      const BoxGroup<T>& group = tiles.group(t / BoxGroup<T>::kBoxes);
      double tile_candidates = 1;
      for (std::int64_t j = 0; j < view.features; ++j)
        tile_candidates *= double{tile.box.half_width[j]};
      volume += tile_candidates;
      for (std::int64_t lane = 0; lane < kTile; ++lane) {
        const std::uint32_t row = tiles.rows(t)[lane];
        if (lane < tile.count) ++seen[row];
        EXPECT_EQ(tiles.labels(t)[lane], labels[row]);
        double norm = 0;
        for (std::int64_t j = 0; j < view.features; ++j) {
          const T x = static_cast<const T*>(view.data)[row * view.stride + j];
          EXPECT_EQ(tiles.values(t)[j].lanes[lane], x);
          const T y = x - origin[static_cast<std::size_t>(j)];
          norm += double{y} * double{y};
          for (const Box<T>& box : {tile.box, group.all}) {
            EXPECT_LE(std::abs(static_cast<long double>(y) - box.center[j]), box.half_width[j]);
          }
          EXPECT_EQ(group.center[j][t % BoxGroup<T>::kBoxes], tile.box.center[j]);
          EXPECT_EQ(group.half_width[j][t % BoxGroup<T>::kBoxes], tile.box.half_width[j]);
        }
        EXPECT_LE(std::sqrt(norm) * (1 - 1e-15), double{tile.box.radius});
      }
    }
  }
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
  const std::int64_t tile_count = (view.samples + kTile - 1) / kTile;
  return volume / static_cast<double>(tile_count);
}

TEST(OpenmpSpatial, TilesHaveAllSamplesInTheirBoxes) {
  for (const char* kind : kKinds) {
    SCOPED_TRACE(kind);
    for (const std::int64_t d : {1, 2, 3}) {
      for (const std::int64_t n : {1, 65, 3000, 11000}) {
        const std::vector<double> samples = samples_of(kind, n, d);
        check_tiles<float>(dataset_of<float>(samples, d).view(), 1);
        check_tiles<double>(dataset_of<double>(samples, d).view(), 3);
      }
    }
  }
}

// Compared with tiles in the original order, each of which spans most of the space.
TEST(OpenmpSpatial, TilesAreOfNeighbours) {
  for (const std::int64_t d : {1, 2, 3}) {
    const lloyd::Dataset data = dataset_of<float>(samples_of("blob", 30000, d), d);
    EXPECT_LT(check_tiles<float>(data.view(), 2), 0.1) << d;
    const lloyd::Dataset far = dataset_of<float>(samples_of("outliers", 30000, d), d);
    EXPECT_LT(check_tiles<float>(far.view(), 2), 0.2 * std::pow(1e6, d)) << d;
  }
}

template <class T>
BoxCentroids<T> box_centroids(const std::vector<double>& centroids, std::int64_t d) {
  const auto k = static_cast<std::int64_t>(centroids.size()) / d;
  BoxCentroids<T> made;
  made.reserve(k, d);
  made.pad(k, d);
  made.count = k;
  for (std::int64_t c = 0; c < k; ++c) {
    double squared = 0;
    for (std::int64_t j = 0; j < d; ++j) {
      const double e = centroids[static_cast<std::size_t>(c * d + j)];
      squared += e * e;
      made.values[static_cast<std::size_t>((j + 1) * made.feature_stride + c)] =
          static_cast<T>(-2 * e);
    }
    made.values[static_cast<std::size_t>(c)] = static_cast<T>(squared);
    made.indices[static_cast<std::size_t>(c)] = static_cast<typename BoxCentroids<T>::Index>(c);
  }
  return made;
}

// Boxes of any size, some with corners equidistant from two centroids: no centroid that is nearest
// to a corner or to the centre may be excluded.
template <class T>
void check_boxes(InstructionSet set, std::int64_t d, std::int64_t k) {
  std::mt19937_64 random(static_cast<std::uint64_t>(d * 100 + k));
  std::uniform_real_distribution<double> uniform(-1, 1);
  // Their mean, and so the origin, is 0.
  std::vector<T> samples(static_cast<std::size_t>(d), T{4});
  samples.insert(samples.end(), static_cast<std::size_t>(d), T{-4});
  const lloyd::Dataset data("samples", lloyd::Matrix::from_values(samples, 2, d));
  std::int64_t kept = 0, boxes = 0, owned = 0;
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<double> centroids;
    for (std::int64_t i = 0; i < k * d; ++i) centroids.push_back(2 * uniform(random));
    ScoreScreen<T> screen(data.view());
    screen.set_centroids(centroids.data(), k);
    ASSERT_TRUE(screen.can_screen());
    ASSERT_TRUE(std::all_of(screen.origin(), screen.origin() + d, [](T s) { return s == 0; }));
    const BoxCentroids<T> from = box_centroids<T>(centroids, d);
    BoxGroup<T> group{};
    BoxCentroids<T> left[BoxGroup<T>::kBoxes];
    for (std::int64_t b = 0; b < BoxGroup<T>::kBoxes; ++b) {
      Box<T> box{};
      const double size = std::pow(10, 4 * uniform(random) - 3);
      const auto first = static_cast<std::size_t>(random() % static_cast<std::uint64_t>(k));
      const auto second = static_cast<std::size_t>(random() % static_cast<std::uint64_t>(k));
      double center = 0, half = 0;
      for (std::int64_t j = 0; j < d; ++j) {
        const auto at = static_cast<std::size_t>(j);
        const auto wide = static_cast<std::size_t>(d);
        // One corner, or the centre, is equidistant.
        const double middle = (centroids[first * wide + at] + centroids[second * wide + at]) / 2;
        box.half_width[j] = static_cast<T>(b % 4 == 0 ? 0 : size * std::abs(uniform(random)));
        box.center[j] = static_cast<T>(middle + (b % 2 == 0 ? double{box.half_width[j]} : 0));
        center += double{box.center[j]} * double{box.center[j]};
        half += double{box.half_width[j]} * double{box.half_width[j]};
      }
      box.radius = static_cast<T>((std::sqrt(center) + std::sqrt(half)) * (1 + 1e-6));
      group.set(b, box);
      left[b].reserve(k, d);
      std::vector<T> scores(from.values.size());
      screen_box(set, box, d, screen.unmarked_limit(), from, scores.data(), left[b]);
      ASSERT_GE(left[b].count, 1);
      kept += left[b].count;
      ++boxes;
      for (std::uint64_t corner = 0; corner <= (std::uint64_t{1} << d); ++corner) {
        std::vector<T> x;
        for (std::int64_t j = 0; j < d; ++j) {
          // The last point is the centre.
          const T side = corner == (std::uint64_t{1} << d) ? T{0}
                         : (corner >> j & 1) != 0          ? box.half_width[j]
                                                           : -box.half_width[j];
          x.push_back(box.center[j] + side);
        }
        const std::int32_t nearest =
            lloyd::nearest_centroid(x.data(), centroids.data(), k, d).label;
        const auto end = left[b].indices.begin() + left[b].count;
        EXPECT_NE(std::find(left[b].indices.begin(), end, nearest), end);
      }
    }
    std::int32_t owners[BoxGroup<T>::kBoxes];
    screen_group(set, group, d, screen.unmarked_limit(), from, owners);
    for (std::int64_t b = 0; b < BoxGroup<T>::kBoxes; ++b) {
      const bool one = left[b].count == 1;
      owned += one ? 1 : 0;
      EXPECT_EQ(owners[b], one ? static_cast<std::int32_t>(left[b].indices.front()) : -1);
    }
  }
  if (k > 1) {
    EXPECT_LT(kept, boxes * (k + 1) / 2 + boxes);
    EXPECT_GT(owned, 0);
  }
}

TEST(OpenmpSpatial, BoxesKeepTheNearestCentroids) {
  for (const InstructionSet set : instruction_sets()) {
    for (const std::int64_t d : {1, 2, 3}) {
      for (const std::int64_t k : {1, 2, 7, 16, 17, 40}) {
        check_boxes<float>(set, d, k);
        check_boxes<double>(set, d, k);
      }
    }
  }
}

// Labels about half of the blocks of a fit's first pass, and stops.
template <class T>
void abandon_fit(Assignment<T>& assignment, const std::vector<double>& samples, std::int64_t k,
                 std::int64_t d, std::int64_t block_rows) {
  const std::int64_t n = std::ssize(samples) / d;
  std::vector<std::int32_t> labels(static_cast<std::size_t>(n), -1);
  assignment.begin_fit({.defer_labels = true});
  assignment.set_centroids(samples.data(), k, true, 1);
  for (std::int64_t begin = 0; begin < n / 2; begin += block_rows) {
    assignment.assign_positions(
        0, {begin, std::min(begin + block_rows, n)}, labels.data(),
        [](const T*, std::int64_t, const lloyd::LabelChange*, std::int64_t) {});
  }
}

// Runs several fits in a session, by several threads, one of them with deferred labels; each
// follows an abandoned fit.
template <class T>
void check_fits(const std::vector<double>& samples, std::int64_t d, std::int64_t k,
                std::int64_t block_rows = Assignment<T>::kBlockAlignment) {
  constexpr std::int64_t kAbandonedFirst = 50;
  const lloyd::Dataset data = dataset_of<T>(samples, d);
  const lloyd::DatasetView view = data.view();
  const std::int64_t n = view.samples;
  std::mt19937_64 random(static_cast<std::uint64_t>(k));
  std::normal_distribution<double> normal;
  for (const InstructionSet set : instruction_sets()) {
    lloyd::ThreadTeam team(3);
    Assignment<T> assignment(view, team, set, Algorithm::lloyd, 1);
    for (const bool deferred : {false, true, false}) {
      // Not before the first fit with few centroids, because it would sort the samples.
      if (deferred || k > kAbandonedFirst) abandon_fit(assignment, samples, k, d, block_rows);
      assignment.begin_fit({.defer_labels = deferred});
      std::vector<double> centroids;
      for (std::int64_t i = 0; i < k * d; ++i) {
        centroids.push_back(samples[static_cast<std::size_t>((i / d * 31 % n) * d + i % d)]);
      }
      std::vector<std::int32_t> labels(static_cast<std::size_t>(n), -1);
      const lloyd::SumPlan plan = lloyd::SumPlan::make(view);
      ASSERT_TRUE(plan.is_integer());
      lloyd::ClusterSums sums(plan, k);
      // Samples are sorted before this pass.
      const auto presorted = static_cast<int>(16 / k);
      for (int pass = 0; pass < presorted + 7; ++pass) {
        // Some passes are by rows, after labels were written, as in a relocation.
        const bool by_rows = pass == presorted + 1 || pass == presorted + 4;
        if (by_rows) assignment.write_labels(labels.data());
        const int threads = 1 + pass % 3;
        assignment.set_centroids(centroids.data(), k, !by_rows, threads);
        int thread = 0;
        for (std::int64_t begin = 0; begin < n; begin += block_rows) {
          const lloyd::RowRange block{begin, std::min(begin + block_rows, n)};
          const auto report = [&](const T* moved, std::int64_t stride,
                                  const lloyd::LabelChange* changes, std::int64_t count) {
            sums.move<T>(moved, stride, changes, count, {});
          };
          thread = (thread + 1) % threads;
          if (by_rows) {
            assignment.assign(thread, block, labels.data() + begin, report);
          } else {
            assignment.assign_positions(thread, block, labels.data(), report);
          }
        }
        std::vector<std::int32_t> expected;
        for (std::int64_t i = 0; i < n; ++i) {
          expected.push_back(
              lloyd::nearest_centroid(static_cast<const T*>(view.data) + i * view.stride,
                                      centroids.data(), k, d)
                  .label);
        }
        SCOPED_TRACE("pass " + std::to_string(pass) + (deferred ? ", deferred" : "") + ", d " +
                     std::to_string(d));
        expect_sums_of(view, expected, sums);
        if (!deferred || pass == presorted + 2 || pass == presorted + 6) {
          assignment.write_labels(labels.data());
          EXPECT_EQ(labels, expected) << pass;
        }
        for (double& value : centroids) value += 0.2 * normal(random) / (1 + pass);
      }
    }
  }
}

TEST(OpenmpSpatial, LabelsMatchTheDefinition) {
  for (const char* kind : kKinds) {
    SCOPED_TRACE(kind);
    for (const std::int64_t d : {1, 2, 3}) {
      const std::vector<double> samples = samples_of(kind, 5000, d);
      for (const std::int64_t k : {1, 3, 20, 90}) {
        SCOPED_TRACE(k);
        check_fits<float>(samples, d, k);
        if (k == 20) check_fits<double>(samples, d, k);
      }
    }
  }
}

// Blocks of several groups of tiles, and blocks larger than a part.
TEST(OpenmpSpatial, TakesBlocksOfAnySize) {
  for (const std::int64_t groups : {3, 33}) {
    check_fits<float>(samples_of("blob", 40000, 2), 2, 20,
                      groups * Assignment<float>::kBlockAlignment);
  }
}

// With about as many centroids as samples, neighbours share no nearest centroid, so the fit returns
// to the original order after one pass.
TEST(OpenmpSpatial, FallsBackToRowsIfNoDistancesAreSaved) {
  const std::int64_t n = 400, k = 300, d = 3;
  const lloyd::Dataset data = dataset_of<float>(samples_of("blob", n, d), d);
  lloyd::ThreadTeam team(1);
  Assignment<float> assignment(data.view(), team, InstructionSet(), Algorithm::lloyd, 1);
  assignment.begin_fit({.defer_labels = true});
  const std::vector<double> centroids = samples_of("blob", k, d);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(n), -1);
  std::vector<std::int64_t> distances;
  for (int pass = 0; pass < 4; ++pass) {
    assignment.set_centroids(centroids.data(), k, true, 1);
    assignment.assign_positions(
        0, {0, n}, labels.data(),
        [](const float*, std::int64_t, const lloyd::LabelChange*, std::int64_t) {});
    distances.push_back(assignment.take_distances());
  }
  EXPECT_NE(distances[0], n * k);
  EXPECT_EQ(distances[1], n * k);
  EXPECT_EQ(distances[2], n * k);
  EXPECT_EQ(distances[3], n * k);
}

}  // namespace
}  // namespace lloyd_openmp
