// Messages about values of the caller name the argument; messages about results of a backend name
// the backend.
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/backend_choice.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>

#include "bad_plugins/support/misbehaving.hpp"
#include "unit/support/experiment_fake_backend.hpp"
#include "unit/support/rank_parts.hpp"
#include "unit/support/run_ranks.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

// Two clusters of two samples; the inertia is 4.
const std::vector<double> kSamples = {0, 0, 0, 2, 9, 0, 9, 2};
const std::vector<double> kCentroids = {0, 1, 9, 1};

class CallerValues : public testing::Test {
 protected:
  CallerValues() {
    session_.label(kCentroids, 2, labels_, counts_);
    other_labels_ = labels_;
    other_labels_[3] = 0;
  }

  std::string refusal(const std::vector<double>& centroids, const std::vector<std::int32_t>& labels,
                      double inertia) {
    return message_of<InputError>([&] { session_.check(centroids, labels, inertia); });
  }

  std::shared_ptr<const LoadedBackend> backend_ = load_backend({.name = "sequential"});
  Dataset dataset_{"points", Matrix::view(kSamples.data(), 4, 2)};
  BackendSession session_{backend_, dataset_};
  std::vector<std::int32_t> labels_, other_labels_;
  std::vector<std::int64_t> counts_;
};

TEST_F(CallerValues, AreNamedByACheck) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(session_.check(kCentroids, labels_, 4).labels.wrong, 0);
  EXPECT_EQ(refusal(kCentroids, {0, 0, 1, 2}, 4),
            "points: labels[3] is 2; with 2 centroids, labels are 0 to 1");
  EXPECT_EQ(refusal(kCentroids, {-1, 0, 1, 1}, 4),
            "points: labels[0] is -1; with 2 centroids, labels are 0 to 1");
  EXPECT_EQ(refusal(kCentroids, labels_, 5),
            "points: inertia is 5, but that of these labels and centroids is 4");
  EXPECT_EQ(refusal(kCentroids, labels_, kNaN),
            "points: inertia is nan, but that of these labels and centroids is 4");
  EXPECT_EQ(refusal(kCentroids, other_labels_, 85),
            "points: labels[3] is 0, which is not the nearest centroid; of 4 labels that were "
            "compared 1 are wrong");
  EXPECT_EQ(refusal({0, 1, kNaN, 1}, labels_, 4),
            "centroid 1, feature 0 is nan; centroids must be finite");
}

TEST_F(CallerValues, OfOneRankAreNamedOnAllRanks) {
  const Matrix matrix = Matrix::view(kSamples.data(), 4, 2);
  run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    const Dataset part = part_of(matrix, {0, 2, 4}, communicator);
    BackendSession session(backend_, part);
    std::vector<std::int32_t> labels;
    std::vector<std::int64_t> counts;
    session.label(kCentroids, 2, labels, counts);
    if (communicator->rank() == 1) labels[1] = 0;
    EXPECT_EQ(message_of<InputError>([&] { session.check(kCentroids, labels, 4); }),
              "points: inertia is 4, but that of these labels and centroids is 85");
  });
}

// The backend reports twice the inertia.
TEST_F(CallerValues, AreToldFromResultsOfABackend) {
  bad::Misbehaviour how;
  how.label = [](Session& honest, const LabelRequest& request, Observer* observer,
                 LabelResult& result) {
    const Status status = honest.label(request, observer, result);
    result.inertia *= 2;
    return status;
  };
  const auto liar = std::make_shared<const LoadedBackend>(
      "fake", make_plugin_header("liar", "1"),
      new bad::MisbehavingBackend(std::move(how), new StepBackend<fake::FakeStep, fake::kInfo>),
      std::vector<DeviceInfo>(1), "");
  const std::vector<float> samples(kSamples.begin(), kSamples.end());
  const Dataset dataset("points", Matrix::view(samples.data(), 4, 2));
  BackendSession session(liar, dataset);
  const double inertia = session.label(kCentroids, 2, labels_, counts_).inertia;
  EXPECT_EQ(message_of<BackendError>([&] { session.check(kCentroids, labels_, inertia); }),
            "liar: it reports an inertia of 8, but its labels and centroids have 4");
  EXPECT_EQ(message_of<InputError>([&] { session.check(kCentroids, labels_, inertia + 1); }),
            "points: inertia is 9, but that of these labels and centroids is 4");
}

TEST_F(CallerValues, MayBeInTheVectorOfTheSquaredDistances) {
  std::vector<double> values = kCentroids;
  EXPECT_EQ(session_.label(values, 2, labels_, counts_, &values).inertia, 4);
  EXPECT_EQ(values, (std::vector<double>{1, 1, 1, 1}));
  EXPECT_EQ(labels_, (std::vector<std::int32_t>{0, 0, 1, 1}));
}

TEST_F(CallerValues, WouldOverwriteTheSamples) {
  std::vector<double> samples = kSamples;
  const Dataset dataset("points", Matrix::view(samples.data(), 4, 2));
  BackendSession session(backend_, dataset);
  EXPECT_EQ(
      message_of<InputError>([&] { session.label(kCentroids, 2, labels_, counts_, &samples); }),
      "points: the vector for the squared distances holds the samples, which must not change "
      "as long as the session is open; pass another vector");
  EXPECT_EQ(samples, kSamples);
}

// fit() records the seeding that it has done, and fit_from() that there was none.
TEST_F(CallerValues, AreRecordedAsGivenCentroids) {
  const FitOptions options{.clusters = 2, .seeding = {.seed = 7}};
  const Fit given = session_.fit_from(kCentroids, options);
  EXPECT_EQ(given.seeding_method, "file");
  EXPECT_EQ(given.seed, 0u);
  const Fit seeded = fit(session_, options);
  EXPECT_EQ(seeded.seeding_method, "k-means++");
  EXPECT_EQ(seeded.seed, 7u);
}

}  // namespace
}  // namespace lloyd
