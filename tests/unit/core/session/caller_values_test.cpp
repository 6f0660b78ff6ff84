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
