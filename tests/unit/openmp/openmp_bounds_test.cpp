// Bounds of the openmp plugin are valid, and labels that they prove are those of the definition.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>
#include <lloyd/plugin/sdk/distance.hpp>

#include "openmp/assignment.hpp"
#include "openmp/bounds/bound_kernels.hpp"
#include "openmp/bounds/bounds.hpp"
#include "openmp/bounds/pruning.hpp"
#include "openmp/common/instruction_set.hpp"
#include "openmp/sums/sum_kernels.hpp"
#include "unit/openmp/openmp_expected_sums.hpp"
#include "unit/openmp/openmp_instruction_sets.hpp"

namespace lloyd_openmp {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

TEST(OpenmpBounds, HoldWhileCentroidsMove) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-12, 6);
  for (int i = 0; i < 10000; ++i) {
    const double distance = std::pow(10, exponent(random));
    double distance_moved = std::pow(10, exponent(random));
    const double before = distance_moved;
    const auto bound = static_cast<float>(distance);
    const float upper = std::nextafter(bound, kInfinite), lower = std::nextafter(bound, 0.0F);
    const float stored_upper = store_upper(upper, round_outward(distance_moved));
    const float stored_lower = store_lower(lower, round_outward(distance_moved));
    distance_moved += std::pow(10, exponent(random));
    // Exact values, except for the float32 rounding when a bound is read, which the comparison of
    // bounds allows for.
    const long double gone = static_cast<long double>(distance_moved) - before;
    EXPECT_GE(read_upper(stored_upper, round_outward(distance_moved)),
              (upper + gone) * (1 - 0x1p-23L));
    EXPECT_LE(read_lower(stored_lower, round_outward(distance_moved)),
              (lower - gone) + std::abs(lower - gone) * 0x1p-23L);
  }
}

TEST(OpenmpBounds, ProveNothingBeyondTheRangeOfFloat32) {
  const Drift far = round_outward(1e300), none = round_outward(0);
  EXPECT_EQ(upper_bound(1e300), kInfinite);
  EXPECT_FALSE(proves_label(read_upper(store_upper(1, none), far), 1e30F));
  EXPECT_FALSE(proves_label(1, read_lower(store_lower(1e30F, none), far)));
  EXPECT_FALSE(proves_label(1, read_lower(store_lower(1e30F, far), far)));
  EXPECT_FALSE(proves_label(kInfinite, std::numeric_limits<float>::max() / 2));
  EXPECT_FALSE(proves_label(1, 1));
  EXPECT_FALSE(proves_label(1, std::nextafter(1.0F, 2.0F)));
  EXPECT_TRUE(proves_label(1, 1.001F));
}

TEST(OpenmpBounds, DriftIsAnUpperBound) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  constexpr std::int64_t k = 3, d = 5;
  std::vector<double> centroids(k * d);
  CentroidDrift drift;
  drift.begin(centroids.data(), k, d);
  EXPECT_EQ(drift.maximum().upper, 0);
  std::vector<long double> accumulated(k);
  long double longest = 0;
  for (int pass = 0; pass < 50; ++pass) {
    const std::vector<double> former = centroids;
    // The last centroid does not move.
    for (std::size_t i = 0; i < (k - 1) * d; ++i) centroids[i] += normal(random) / (pass + 1);
    drift.move(centroids.data());
    long double most = 0;
    for (std::size_t c = 0; c < k; ++c) {
      long double squared = 0;
      for (std::size_t j = c * d; j < (c + 1) * d; ++j) {
        const long double difference = static_cast<long double>(centroids[j]) - former[j];
        squared += difference * difference;
      }
      accumulated[c] += std::sqrt(squared);
      most = std::max(most, std::sqrt(squared));
      const Drift of_this = drift.of(static_cast<std::int64_t>(c));
      EXPECT_GE(of_this.upper, accumulated[c]);
      EXPECT_LE(of_this.lower, accumulated[c] * (1 + 0x1p-30L));
      EXPECT_LE(of_this.upper - of_this.lower, accumulated[c] * 0x1p-21L);
    }
    longest += most;
    EXPECT_GE(drift.maximum().upper, longest);
    EXPECT_LE(drift.maximum().upper, longest * (1 + 0x1p-22L));
  }
  EXPECT_EQ(drift.of(k - 1).upper, 0);
}

TEST(OpenmpBounds, KernelsMatchScalarArithmetic) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<float> uniform;
  constexpr std::int64_t k = 7, d = 2;
  std::vector<double> centroids(k * d);
  CentroidDrift drift;
  drift.begin(centroids.data(), k, d);
  for (const InstructionSet set : instruction_sets()) {
    for (double& value : centroids) value += static_cast<double>(uniform(random));
    drift.move(centroids.data());
    TileLabels nearest;
    TileBounds fresh;
    nearest.bounds = &fresh;
    for (std::int64_t i = 0; i < kTile; ++i) {
      nearest.labels[i] = static_cast<std::int32_t>(random() % k);
      fresh.upper[i] = uniform(random);
      fresh.lower[i] = fresh.upper[i] + uniform(random) / 4;
    }
    constexpr std::uint64_t kUnknown = 0x8000'0000'0001'0002;
    float upper[kTile], lower[kTile];
    store_bounds(set, nearest, kUnknown, drift, {upper, lower});
    for (double& value : centroids) value += 0.08 * static_cast<double>(uniform(random));
    const CentroidDrift before = drift;
    drift.move(centroids.data());
    const std::uint64_t unsettled = find_open(set, nearest.labels, {upper, lower}, drift);
    int settled = 0;
    for (std::int64_t i = 0; i < kTile; ++i) {
      const Drift own = before.of(nearest.labels[i]);
      const bool unknown = (kUnknown >> i & 1) != 0;
      EXPECT_EQ(upper[i], unknown ? kInfinite : store_upper(fresh.upper[i], own));
      EXPECT_EQ(lower[i], unknown ? -kInfinite : store_lower(fresh.lower[i], before.maximum()));
      const bool stands = proves_label(read_upper(upper[i], drift.of(nearest.labels[i])),
                                       read_lower(lower[i], drift.maximum()));
      EXPECT_EQ((unsettled >> i & 1) == 0, stands) << i;
      settled += stands ? 1 : 0;
    }
    EXPECT_GT(settled, 8);
    EXPECT_LT(settled, 56);
  }
}

TEST(OpenmpBounds, MeasuresDistances) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  for (const InstructionSet set : instruction_sets()) {
    for (const std::int64_t d : {1, 3, 8, 17, 40, 131}) {
      const std::int64_t stride = d + 1;
      std::vector<float> samples;
      std::vector<double> centroids;
      for (std::int64_t i = 0; i < 9 * stride; ++i) {
        samples.push_back(static_cast<float>(normal(random)));
      }
      samples.resize(static_cast<std::size_t>(
          8 * stride + d));  // so that reading beyond the last sample is detected
      for (std::int64_t i = 0; i < 4 * d; ++i) centroids.push_back(normal(random));
      const std::int64_t rows[] = {8, 0, 3};
      const std::int32_t labels[] = {2, 0, 0, 3, 0, 0, 0, 0, 1};
      double squared[3];
      measure_distances(set, samples.data(), stride, d, rows, 3, labels, centroids.data(), squared);
      for (int i = 0; i < 3; ++i) {
        const double defined = lloyd::squared_distance(samples.data() + rows[i] * stride,
                                                       centroids.data() + labels[rows[i]] * d, d);
        EXPECT_NEAR(squared[i], defined, defined * 1e-13);
      }
    }
  }
}

constexpr Algorithm kAlgorithms[] = {Algorithm::lloyd, Algorithm::hamerly, Algorithm::elkan,
                                     Algorithm::yinyang, Algorithm::automatic};

constexpr auto kNobody = [](const auto*, std::int64_t, const lloyd::LabelChange*, std::int64_t) {};

// Labels samples for a sequence of centroids, as a fit does, and expects the labels of the
// definition after each pass. Returns the number of distances with the last instruction set.
// `block_rows`: block size of passes in whole tiles.
template <class T>
std::int64_t check_passes(const lloyd::Dataset& data,
                          const std::vector<std::vector<double>>& passes, Algorithm algorithm,
                          std::int64_t block_rows = Assignment<T>::kBlockAlignment) {
  const lloyd::DatasetView view = data.view();
  const std::int64_t n = view.samples, d = view.features;
  std::int64_t distances = 0;
  for (const InstructionSet set : instruction_sets()) {
    lloyd::ThreadTeam team(1);
    Assignment<T> assignment(view, team, set, algorithm, 1);
    assignment.begin_fit();
    std::vector<std::int32_t> labels(static_cast<std::size_t>(n), -1);
    const lloyd::SumPlan plan = lloyd::SumPlan::make(view);
    lloyd::ClusterSums sums(plan, std::ssize(passes.front()) / d);
    distances = 0;
    for (std::size_t pass = 0; pass < passes.size(); ++pass) {
      const std::int64_t k = std::ssize(passes[pass]) / d;
      // Mixes passes in blocks of whole tiles, whose samples are stored, with passes in other
      // blocks, after which the spatial order has to read all labels again.
      const bool some = pass != 1 && pass != 5 && pass != 9;
      assignment.set_centroids(passes[pass].data(), k, some, 1);
      const std::vector<std::int32_t> before = labels;
      std::int64_t reported = 0, changed = 0;
      const auto report = [&](const T* samples, std::int64_t stride,
                              const lloyd::LabelChange* changes, std::int64_t count) {
        reported += count;
        if (plan.is_integer()) {
          sums.move<T>(samples, stride, changes, count, sum_kernels<T>(set));
        }
      };
      const std::int64_t rows = some ? block_rows : 333;
      for (std::int64_t begin = 0; begin < n; begin += rows) {
        const lloyd::RowRange block{begin, std::min(begin + rows, n)};
        changed += some ? assignment.assign_positions(0, block, labels.data(), report)
                        : assignment.assign(0, block, labels.data() + begin, report);
      }
      std::int64_t differ = 0;
      for (std::size_t i = 0; i < labels.size(); ++i) differ += labels[i] != before[i] ? 1 : 0;
      EXPECT_EQ(changed, differ);
      EXPECT_EQ(reported, differ);
      if (plan.is_integer()) expect_sums_of(view, labels, sums);
      distances += assignment.take_distances();
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int32_t defined =
            lloyd::nearest_centroid(static_cast<const T*>(view.data) + i * view.stride,
                                    passes[pass].data(), k, d)
                .label;
        EXPECT_EQ(labels[static_cast<std::size_t>(i)], defined)
            << "sample " << i << ", pass " << pass << ", set " << set.index() << ", algorithm "
            << kAlgorithmNames[static_cast<std::size_t>(algorithm)];
        if (labels[static_cast<std::size_t>(i)] != defined) return 0;
      }
    }
  }
  return distances;
}

template <class T>
struct Moving {
  lloyd::Dataset data;
  std::vector<std::vector<double>> passes;
};

// Samples around k centres, some of them equidistant from two, and moving centroids.
template <class T>
Moving<T> moving(std::int64_t n, std::int64_t d, std::int64_t k, double scale, double offset) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n + d + k));
  std::normal_distribution<double> normal;
  std::vector<double> centroids;
  for (std::int64_t i = 0; i < k * d; ++i) centroids.push_back(offset + 4 * scale * normal(random));
  std::vector<T> samples;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto a = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(k));
    const auto b = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(k));
    for (std::int64_t j = 0; j < d; ++j) {
      const double of_a = centroids[static_cast<std::size_t>(a * d + j)];
      const double of_b = centroids[static_cast<std::size_t>(b * d + j)];
      samples.push_back(
          static_cast<T>(i % 3 == 0 ? (of_a + of_b) / 2 : of_a + scale * normal(random)));
    }
  }
  Moving<T> made{lloyd::Dataset("samples", lloyd::Matrix::from_values(samples, n, d)), {}};
  for (int pass = 0; pass < 14; ++pass) {
    made.passes.push_back(centroids);
    if (pass == 6) {
      // One centroid jumps, like that of an empty cluster, and one coincides with another.
      for (std::int64_t j = 0; j < d; ++j) {
        centroids[static_cast<std::size_t>(j)] += 20 * scale * normal(random);
        centroids[static_cast<std::size_t>((k - 1) * d + j)] =
            centroids[static_cast<std::size_t>((k / 2) * d + j)];
      }
    } else if (pass != 9) {  // nothing moves in pass 9
      for (double& value : centroids) value += 0.3 * scale * normal(random) / (1 + pass * pass);
    }
  }
  return made;
}

template <class T>
void check_moving(std::int64_t n, std::int64_t d, std::int64_t k, double scale, double offset) {
  const Moving<T> made = moving<T>(n, d, k, scale, offset);
  for (const Algorithm algorithm : kAlgorithms) {
    const std::int64_t distances = check_passes<T>(made.data, made.passes, algorithm);
    // For other scales the bounds may be too coarse to prune anything. With three centroids,
    // measuring the distance to the own one may cost as much as is saved, depending on the
    // instruction set.
    if (scale == 1 && k > 3 && algorithm != Algorithm::lloyd) {
      EXPECT_LT(distances, n * k * std::ssize(made.passes));
    }
  }
}

TEST(OpenmpPruning, LabelsMatchTheDefinition) {
  for (const double offset : {0.0, 1e4}) {
    check_moving<float>(2000, 2, 9, 1, offset);    // few features
    check_moving<float>(2000, 12, 7, 1, offset);   // tiles
    check_moving<float>(2000, 12, 21, 1, offset);  // stored integers
    check_moving<float>(2000, 16, 70, 1, offset);  // integers
    check_moving<float>(1500, 130, 3, 1, offset);  // rows
    check_moving<float>(1500, 130, 8, 1, offset);  // integers, then rows
    check_moving<double>(1500, 5, 40, 1, offset);
  }
}

// Enough labels change that they are reported before a block ends.
TEST(OpenmpPruning, ReportsManyChanges) {
  constexpr std::int64_t n = 3 * kMaxBatchedSamples, d = kMinBatchedFeatures, k = 8;
  Moving<float> made = moving<float>(n, d, k, 1, 0);
  for (std::size_t pass = 1; pass < made.passes.size(); ++pass) {
    made.passes[pass] = made.passes[pass - 1];
    std::rotate(made.passes[pass].begin(), made.passes[pass].begin() + d, made.passes[pass].end());
  }
  for (const Algorithm algorithm : kAlgorithms) {
    check_passes<float>(made.data, made.passes, algorithm, n);
  }
}

TEST(OpenmpPruning, HoldsForAnyMagnitude) {
  for (const double scale : {1e-30, 1e-19, 1e-12, 1e12, 1e16}) {
    check_moving<float>(700, 3, 40, scale, 0);
    check_moving<float>(700, 12, 21, scale, 0);
  }
  for (const double scale : {1e-160, 1e-40, 1e-19, 1e17, 3e37, 1e38, 3e38, 1e39, 1e42, 1e140}) {
    check_moving<double>(700, 3, 40, scale, 0);
  }
}

// A lower bound and a drift that fit float32, while their sum does not.
TEST(OpenmpPruning, HoldsWhereSumsOfBoundsOverflow) {
  const lloyd::Dataset data("samples", lloyd::Matrix::from_values(std::vector<double>{0}, 1, 1));
  const std::vector<std::vector<double>> passes = {{-1.6e38, 3.8e38},  {-1.6e38, 3.8e38},
                                                   {-1.6e38, 1.8e38},  {-1.65e38, 1.45e38},
                                                   {-1.65e38, 1.4e38}, {-1.2e38, 1.4e38}};
  for (const Algorithm algorithm : kAlgorithms) check_passes<double>(data, passes, algorithm);
}

// A sample whose distance exceeds float32, among many whose bounds prove their labels.
TEST(OpenmpPruning, HoldsForASampleThatIsFarAway) {
  constexpr std::int64_t k = 20;
  std::vector<double> samples, centroids;
  for (std::int64_t c = 0; c < k; ++c) {
    centroids.push_back(1e42 * static_cast<double>(c));
    for (int i = 0; i < 10; ++i) samples.push_back(centroids.back() + 1e30 * i);
  }
  samples[17] += 1e39;
  const lloyd::Dataset data(
      "samples", lloyd::Matrix::from_values(samples, std::ssize(samples), std::int64_t{1}));
  std::vector<std::vector<double>> passes;
  for (int pass = 0; pass < 6; ++pass) {
    passes.push_back(centroids);
    centroids[3] += 1e29;
  }
  for (const Algorithm algorithm : kAlgorithms) check_passes<double>(data, passes, algorithm);
}

// In one pass a centroid is so far away that no screen can be used.
TEST(OpenmpPruning, HoldsAfterPassesByTheDefinitionAlone) {
  for (const std::size_t far : {0, 1, 2, 3, 5, 8}) {
    Moving<float> made = moving<float>(700, 3, 40, 1, 0);
    made.passes[far][7] = 1e19;
    for (const Algorithm algorithm : kAlgorithms) {
      check_passes<float>(made.data, made.passes, algorithm);
    }
  }
}

// Bounds must not be used in another fit.
TEST(OpenmpPruning, ForgetsBoundsOfAnotherFit) {
  const std::vector<float> samples = {0, 1, 10, 11};
  const lloyd::Dataset data("samples", lloyd::Matrix::from_values(samples, 4, 1));
  lloyd::ThreadTeam team(1);
  Assignment<float> assignment(data.view(), team, InstructionSet(), Algorithm::hamerly);
  const std::vector<double> near = {0, 10}, swapped = {10, 0};
  const auto label = [&](const std::vector<double>& centroids, std::vector<std::int32_t> former) {
    assignment.set_centroids(centroids.data(), 2, false, 1);
    assignment.assign(0, {0, 4}, former.data(), kNobody);
    return former;
  };
  const std::vector<std::int32_t> none(4, -1), first = {0, 0, 1, 1}, second = {1, 1, 0, 0};
  assignment.begin_fit();
  for (int pass = 0; pass < 4; ++pass) EXPECT_EQ(label(near, pass == 0 ? none : first), first);
  assignment.end_fit();
  EXPECT_EQ(label(near, second), first);  // arbitrary former labels
  EXPECT_EQ(label(swapped, first), second);
  assignment.begin_fit();
  EXPECT_EQ(label(swapped, none), second);
  for (int pass = 0; pass < 3; ++pass) EXPECT_EQ(label(swapped, second), second);
}

// Bounds per group after a pass that only the definition can label. In that pass the first sample
// moves from a to b, then back to a, while the group of a seems far away.
TEST(OpenmpPruning, BoundsOfGroupsHoldAfterAPassByTheDefinition) {
  constexpr double kScale = 1e15;
  const lloyd::Dataset data(
      "samples",
      lloyd::Matrix::from_values(std::vector{0.0F, static_cast<float>(500 * kScale)}, 2, 1));
  std::vector<std::vector<double>> passes;
  for (const auto& [a, b, c] :
       {std::array{-1.0, 3.0, 50.0}, std::array{-1.0, 3.0, 50.0}, std::array{-1.0, 3.0, 45.0},
        std::array{-6.0, 5.0, 1e4}, std::array{-6.0, 5.0, 45.0}, std::array{-6.0, 7.0, 45.0}}) {
    std::vector<double> centroids;
    for (int i = 0; i < 15; ++i) centroids.push_back((-100.0 - i) * kScale);
    for (const double value : {a, b, c, 500.0}) centroids.push_back(value * kScale);
    passes.push_back(centroids);
  }
  for (const Algorithm algorithm : kAlgorithms) check_passes<float>(data, passes, algorithm);
}

// Fits of one session may have different numbers of clusters.
TEST(OpenmpPruning, TakesAnyNumberOfClusters) {
  const std::vector<float> samples = {0, 1, 10, 11, 20, 21, 22};
  const lloyd::Dataset data("samples", lloyd::Matrix::from_values(samples, 7, 1));
  for (const Algorithm algorithm : kAlgorithms) {
    lloyd::ThreadTeam team(1);
    Assignment<float> assignment(data.view(), team, InstructionSet(), algorithm);
    for (const std::int64_t k : {7, 2, 40, 1, 40}) {
      assignment.begin_fit();
      std::vector<double> centroids;
      for (std::int64_t c = 0; c < k; ++c) centroids.push_back(3 * static_cast<double>(c));
      std::vector<std::int32_t> labels(7, -1);
      for (int pass = 0; pass < 6; ++pass) {
        assignment.set_centroids(centroids.data(), k, false, 1);
        assignment.assign(0, {0, 7}, labels.data(), kNobody);
        for (std::size_t i = 0; i < 7; ++i) {
          EXPECT_EQ(labels[i],
                    lloyd::nearest_centroid(samples.data() + i, centroids.data(), k, 1).label);
        }
        for (double& value : centroids) value *= 0.95;
      }
    }
  }
}

}  // namespace
}  // namespace lloyd_openmp
