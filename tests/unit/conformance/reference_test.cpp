// The reference on examples computed by hand.
#include "reference/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace lloyd::reference {
namespace {

using Values = std::vector<double>;
using Labels = std::vector<std::int32_t>;
using Counts = std::vector<std::int64_t>;

double full_sum(const Values& values) {
  FullSum sum;
  for (const double value : values) sum.add(value);
  return sum.value();
}

Samples line(Values values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return {n, 1, std::move(values)};
}

Settings start(Values centroids) {
  Settings settings;
  settings.k = static_cast<std::int64_t>(centroids.size());
  settings.initial_centroids = std::move(centroids);
  settings.max_iterations = 100;
  return settings;
}

TEST(ReferenceSum, IsExactUntilRead) {
  EXPECT_EQ(full_sum({}), 0);
  EXPECT_EQ(full_sum({1e100, 1, -1e100}), 1);
  EXPECT_EQ(full_sum(Values(10, 0.1)), 1);
  EXPECT_EQ(full_sum({1e300, 0x1p-1074, -1e300}), 0x1p-1074);
}

TEST(ReferenceSum, IsRoundedToNearestTiesToEven) {
  const double next = std::nextafter(1, 2);
  EXPECT_EQ(full_sum({1, 0x1p-53}), 1);
  EXPECT_EQ(full_sum({1, 0x1p-53, 0x1p-106}), next);
  EXPECT_EQ(full_sum({1, 0x1p-53, -0x1p-106}), 1);
  EXPECT_EQ(full_sum({next, 0x1p-53}), std::nextafter(next, 2));
  EXPECT_EQ(full_sum({next, 0x1p-53, -0x1p-106}), next);
}

TEST(ReferenceDistance, IsSummedInAscendingOrder) {
  // (2^-27)^2 is lost when it is added to 1, but the sum of two such squares is not.
  const Values x{1, 0x1p-27, 0x1p-27};
  const Values reversed{0x1p-27, 0x1p-27, 1};
  const Values origin{0, 0, 0};
  EXPECT_EQ(squared_distance(x.data(), origin.data(), 3), 1);
  EXPECT_EQ(squared_distance(reversed.data(), origin.data(), 3), 1 + 0x1p-53);
}

TEST(ReferenceAssignment, GivesTiesToTheLowestIndex) {
  const Values centroids{4, 0, 4, 8};
  const Values samples{0, 2, 4, 6, 7};
  const Labels expected{1, 0, 0, 0, 3};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(nearest(&samples[i], centroids, 1), expected[i]) << "sample " << samples[i];
  }
}

TEST(ReferenceUpdate, TakesMeansAndKeepsEmptyClusters) {
  const Update update =
      reference::update(line({1, 2, 6, 9}), {3, 50, 9}, {0, 0, 0, 2}, EmptyPolicy::keep);
  EXPECT_EQ(update.centroids, (Values{3, 50, 9}));
  EXPECT_EQ(update.counts, (Counts{3, 0, 1}));
  EXPECT_EQ(update.relocations, 0);
}

TEST(ReferenceUpdate, RelocatesToTheFarthestSample) {
  // Squared distances to 0: 1, 4, 49, 36. Cluster 1 takes the 7, cluster 2 the 6.
  const Update update =
      reference::update(line({1, 2, -7, 6}), {0, 90, 80}, {0, 0, 0, 0}, EmptyPolicy::relocate);
  EXPECT_EQ(update.centroids, (Values{1.5, -7, 6}));
  EXPECT_EQ(update.counts, (Counts{2, 1, 1}));
  EXPECT_EQ(update.members, (Labels{0, 0, 1, 2}));
  EXPECT_EQ(update.relocations, 2);
}

TEST(ReferenceUpdate, BreaksTiesOfDistanceByRow) {
  const Update update =
      reference::update(line({-3, 3, 0}), {0, 90}, {0, 0, 0}, EmptyPolicy::relocate);
  EXPECT_EQ(update.centroids, (Values{1.5, -3}));
}

TEST(ReferenceUpdate, SparesAClustersOnlyMember) {
  // Row 0 is farther from its centroid than row 2, but alone in its cluster.
  const Update update =
      reference::update(line({30, 0, 4}), {0, 20, 90}, {1, 0, 0}, EmptyPolicy::relocate);
  EXPECT_EQ(update.centroids, (Values{0, 30, 4}));
  // Two clusters to fill, but only one sample may leave its cluster.
  const Update second =
      reference::update(line({30, 0, 4}), {0, 20, 90, 95}, {1, 0, 0}, EmptyPolicy::relocate);
  EXPECT_EQ(second.centroids, (Values{0, 30, 4, 95}));
  EXPECT_EQ(second.relocations, 1);
}

TEST(ReferenceUpdate, NeverRelocatesToDistanceZero) {
  const Update update =
      reference::update(line({5, 5, 5}), {5, 9}, {0, 0, 0}, EmptyPolicy::relocate);
  EXPECT_EQ(update.centroids, (Values{5, 9}));
  EXPECT_EQ(update.relocations, 0);
}

TEST(ReferenceFit, RefusesEmptyClustersWhenToldTo) {
  Settings settings = start({0, 90});
  settings.empty = EmptyPolicy::error;
  EXPECT_THROW(fit(line({0, 1}), settings), EmptyCluster);
}

TEST(ReferenceFit, StopsWhenLabelsStay) {
  const Fit result = fit(line({0, 2, 10, 12}), start({0, 12}));
  EXPECT_EQ(result.stop, Stop::labels);
  EXPECT_EQ(result.iterations, 2);
  EXPECT_EQ(result.centroids, (Values{1, 11}));
  EXPECT_EQ(result.labels, (Labels{0, 0, 1, 1}));
  EXPECT_EQ(result.counts, (Counts{2, 2}));
  EXPECT_EQ(result.inertia, 4);
  ASSERT_EQ(result.trace.size(), 2u);
  EXPECT_EQ(result.trace[0].changed, 4);
  EXPECT_EQ(result.trace[0].shift, 2);
  EXPECT_EQ(result.trace[0].inertia, 8);
  EXPECT_EQ(result.trace[1].changed, 0);
  EXPECT_EQ(result.trace[1].shift, 0);
  EXPECT_EQ(result.trace[1].inertia, 4);
}

TEST(ReferenceFit, StopsWithinTheTolerance) {
  Settings settings = start({0, 12});
  settings.tolerance = 2;  // equals the first shift
  const Fit result = fit(line({0, 2, 10, 12}), settings);
  EXPECT_EQ(result.stop, Stop::tolerance);
  EXPECT_EQ(result.iterations, 1);
  settings.tolerance = std::nextafter(2, 0);
  EXPECT_EQ(fit(line({0, 2, 10, 12}), settings).stop, Stop::labels);
}

TEST(ReferenceFit, RunsAFixedNumberPastConvergence) {
  Settings settings = start({0, 12});
  settings.fixed = true;
  settings.tolerance = 100;
  settings.max_iterations = 5;
  const Fit result = fit(line({0, 2, 10, 12}), settings);
  EXPECT_EQ(result.stop, Stop::max_iterations);
  EXPECT_EQ(result.iterations, 5);
}

TEST(ReferenceFit, DoesNotStopInAnIterationThatRelocates) {
  Settings settings = start({0, 90});
  settings.tolerance = 1e9;
  const Fit result = fit(line({0, 0, 3}), settings);
  EXPECT_EQ(result.trace[0].relocations, 1);
  EXPECT_EQ(result.stop, Stop::tolerance);
  EXPECT_EQ(result.iterations, 2);
  settings.max_iterations = 1;
  EXPECT_EQ(fit(line({0, 0, 3}), settings).stop, Stop::max_iterations);
}

TEST(ReferenceFit, EndsWithAClosingAssignment) {
  Settings settings = start({0, 6});
  settings.max_iterations = 1;
  const Fit result = fit(line({0, 4, 6, 20}), settings);
  EXPECT_EQ(result.trace[0].labels, (Labels{0, 1, 1, 1}));
  EXPECT_EQ(result.centroids, (Values{0, 10}));
  EXPECT_EQ(result.labels, (Labels{0, 0, 1, 1}));
  EXPECT_EQ(result.counts, (Counts{2, 2}));
  EXPECT_EQ(result.inertia, 16 + 16 + 100);
}

}  // namespace
}  // namespace lloyd::reference
