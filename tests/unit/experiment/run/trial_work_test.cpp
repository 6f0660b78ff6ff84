// run_trial_work(): results that were checked before.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/blobs.hpp>

#include "experiment/trial/trial_work.hpp"
#include "unit/support/experiment_fake_run.hpp"

namespace lloyd::experiment {
namespace {

TEST(TrialWork, EqualLabelsAndCentroidsAreCheckedOnce) {
  const Dataset dataset = make_blobs({.samples = 500, .features = 3, .centers = 4});
  const auto backend = fake::load("sequential");
  const ParameterSet parameters = backend->default_parameters();
  FitOptions options;
  options.clusters = 4;
  const std::vector<std::vector<double>> starts = {seed_centroids(dataset, 4, {})};
  const auto after_one = [&](const std::vector<AfterOne>& before) {
    fake::Switch observer;
    std::unique_ptr<BackendSession> session;
    TrialWork work{backend, parameters, dataset, options, starts};
    work.checked_before = before;
    return run_trial_work(work, observer, session).after_one.value();
  };

  const AfterOne first = after_one({});
  EXPECT_EQ(first.labels.samples, 500);
  EXPECT_EQ(first.labels.wrong, 0);
  // A verdict that no check would give shows where it comes from.
  AfterOne marked = first;
  marked.labels.wrong = 77;
  EXPECT_EQ(after_one({marked}).labels.wrong, 77);
  AfterOne other = marked;
  ++other.digest;
  EXPECT_EQ(after_one({other}).labels.wrong, 0);
  EXPECT_EQ(after_one({other, marked}).labels.wrong, 77);
}

}  // namespace
}  // namespace lloyd::experiment
