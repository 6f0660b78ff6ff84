// A data set must stay in place while sessions use it: calls after it was moved from, assigned
// to or destroyed are refused.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/row_views.hpp>
#include <lloyd/error.hpp>
#include <lloyd/evaluation.hpp>
#include <lloyd/kmeans.hpp>
#include <lloyd/standardize.hpp>

#include "unit/support/experiment_fake_backend.hpp"
#include "unit/support/rank_parts.hpp"
#include "unit/support/run_ranks.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

const std::string kNotInPlace =
    "fake: the session on points cannot be used: its data set was moved, assigned to or destroyed; "
    "a data "
    "set must stay in place until the last session on it is closed";

// Eight samples of `features` features, the first one being `first`.
Matrix eight_samples(std::int64_t features, float first) {
  std::vector<float> values(static_cast<std::size_t>(8 * features));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 5);
  values[0] = first;
  return Matrix::from_values(std::move(values), 8, features);
}

class DatasetsInPlace : public testing::Test {
 protected:
  static Dataset points(std::int64_t features = 2, float first = 9) {
    return Dataset("points", eight_samples(features, first));
  }

  // Opens a session on a data set, calls `change`, and expects that all calls are refused.
  void expect_refusals(Dataset dataset, const std::function<void(Dataset&)>& change) {
    BackendSession session(backend_, dataset, {}, dataset.source() == nullptr ? 0 : 4);
    const Fit before = fit(session, options_);
    change(dataset);
    const std::vector<double> centroids = {0, 0, 1, 1};
    std::vector<std::int32_t> labels;
    std::vector<std::int64_t> counts;
    const std::pair<const char*, std::function<void()>> calls[] = {
        {"fit_from", [&] { session.fit_from(centroids, options_); }},
        {"label", [&] { session.label(centroids, 2, labels, counts); }},
        {"check", [&] { session.check(before.centroids, before.labels, before.inertia); }},
        {"copy_results", [&] { session.copy_results(before, {}); }},
        {"check_source", [&] { session.check_source(); }},
        {"check_samples", [&] { session.check_samples(); }},
        {"fit", [&] { fit(session, options_); }},
        {"seed_centroids", [&] { seed_centroids(dataset, 2, {}, 0, {.session = &session}); }},
    };
    for (const auto& [name, call] : calls)
      EXPECT_EQ(message_of<InputError>(call), kNotInPlace) << name;
  }

  std::shared_ptr<const LoadedBackend> backend_ = fake::make<fake::FakeStep>("fake");
  FitOptions options_{.clusters = 2};
};

TEST_F(DatasetsInPlace, AreRefusedAfterTheyWereMovedFrom) {
  expect_refusals(points(), [](Dataset& dataset) { const Dataset moved = std::move(dataset); });
  expect_refusals(Dataset(rows_of("points", eight_samples(2, 9)), 4),
                  [](Dataset& dataset) { const Dataset moved = std::move(dataset); });
}

TEST_F(DatasetsInPlace, AreRefusedAfterTheyWereAssignedTo) {
  expect_refusals(points(), [](Dataset& dataset) { dataset = points(2, 7); });
  expect_refusals(points(), [](Dataset& dataset) { dataset = points(1); });
  expect_refusals(points(), [](Dataset& dataset) {
    const Dataset other = points(40);
    dataset = other;
  });
}

// The copy must not take the place of the original.
TEST_F(DatasetsInPlace, AreRefusedAfterTheyWereDestroyed) {
  auto dataset = std::make_unique<Dataset>(points());
  BackendSession session(backend_, *dataset);
  const Dataset copy = *dataset;
  dataset.reset();
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> counts;
  const std::vector<double> centroids = {0, 0, 1, 1};
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"fit_from", [&] { session.fit_from(centroids, options_); }},
      {"label", [&] { session.label(centroids, 2, labels, counts); }},
      {"check", [&] { session.check(centroids, std::vector<std::int32_t>(8), 0); }},
      {"check_source", [&] { session.check_source(); }},
      {"check_samples", [&] { session.check_samples(); }},
      {"fit", [&] { fit(session, options_); }},
  };
  for (const auto& [name, call] : calls)
    EXPECT_EQ(message_of<InputError>(call), kNotInPlace) << name;
}

TEST_F(DatasetsInPlace, LeaveNoPointerWhenTheyAreMoved) {
  Dataset original = points();
  const void* const values = original.matrix().data;
  Dataset moved = std::move(original);
  EXPECT_EQ(moved.matrix().data, values);
  const Matrix& matrix = original.matrix();  // NOLINT(bugprone-use-after-move): that is tested
  EXPECT_EQ(matrix.data, nullptr);
  EXPECT_EQ(matrix.storage, nullptr);
  original = std::move(moved);
  EXPECT_EQ(matrix.data, values);
  EXPECT_EQ(moved.matrix().data, nullptr);  // NOLINT(bugprone-use-after-move): that is tested
  EXPECT_EQ(kmeans(original, 2).labels.size(), 8u);
}

// A copy has the same samples in the same memory.
TEST_F(DatasetsInPlace, MayBeCopied) {
  const Dataset dataset = points();
  BackendSession session(backend_, dataset);
  const auto copy = std::make_unique<const Dataset>(dataset);
  EXPECT_EQ(fit(session, options_).labels.size(), 8u);
  EXPECT_EQ(kmeans(*copy, 2).labels.size(), 8u);
}

TEST_F(DatasetsInPlace, OnOneRankAreReportedByAll) {
  const Matrix matrix = eight_samples(2, 9);
  run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    Dataset part = part_of(matrix, {0, 4, 8}, communicator);
    BackendSession session(backend_, part);
    if (communicator->rank() == 1) const Dataset moved = std::move(part);
    for (const std::string& message :
         {message_of<InputError>([&] { fit(session, options_); }), message_of<InputError>([&] {
            session.fit_from({0, 0, 1, 1}, options_);
          })}) {
      EXPECT_NE(message.find("its data set was moved, assigned to or destroyed"), std::string::npos)
          << message;
    }
  });
}

TEST_F(DatasetsInPlace, AreRefusedWithoutASessionAfterTheyWereMovedFrom) {
  const std::string expected =
      "the data set has no samples, because it was moved from; use the object that it was moved to";
  const auto expect_refused = [&](Dataset original) {
    const Dataset moved = std::move(original);
    const Dataset& dataset = original;  // NOLINT(bugprone-use-after-move): that is tested
    const std::vector<double> centroids = {0, 0, 1, 1};
    const std::vector<std::int32_t> labels(8);
    const std::pair<const char*, std::function<void()>> calls[] = {
        {"kmeans", [&] { kmeans(dataset, 2); }},
        {"BackendSession", [&] { BackendSession(backend_, dataset, {}, 4); }},
        {"seed_centroids", [&] { seed_centroids(dataset, 2, {}); }},
        {"inertia", [&] { inertia(dataset, centroids, labels); }},
        {"check_labels", [&] { check_labels(dataset, centroids, labels); }},
        {"standardize", [&] { standardize(dataset); }},
        {"sample", [&] { dataset.sample(0); }},
        {"compute_fingerprint", [&] { dataset.compute_fingerprint(); }},
    };
    for (const auto& [name, call] : calls)
      EXPECT_EQ(message_of<InputError>(call), expected) << name;
  };
  expect_refused(points());
  expect_refused(Dataset(rows_of("points", eight_samples(2, 9)), 4));
}

}  // namespace
}  // namespace lloyd
