// MeanCheck: contains() accepts nothing that check() refuses, and check() names the faulty sum.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/abi/status.hpp>
#include <lloyd/plugin/sdk/iteration_rules.hpp>

#include "session/sum_checks.hpp"

namespace lloyd {
namespace {

// Two clusters of two features between -3 and 5.
class Sums {
 public:
  explicit Sums(double scale = 1)
      : dataset_("edges", Matrix::from_values(std::vector<double>{-3 * scale, 1 * scale, 5 * scale,
                                                                  0, 2 * scale, 5 * scale},
                                              3, 2)),
        plan_(SumPlan::make(dataset_.view())),
        check_(plan_, dataset_.statistics().data()) {
    ClusterSums sums(plan_, 2);
    const std::int32_t labels[] = {0, 1, 1};
    std::vector<double> values;
    for (std::int64_t row = 0; row < 3; ++row) {
      for (const double value : dataset_.sample(row)) values.push_back(value);
    }
    sums.add(values.data(), 2, 3, labels);
    words.resize(4);
    counts.resize(2);
    sums.store(words.data(), counts.data());
  }

  std::vector<double> means() {
    ClusterSums sums(plan_, 2);
    sums.load(words.data(), counts.data());
    std::vector<double> means(4);
    move_to_means(sums, 2, std::vector<double>(4), means);
    return means;
  }
  bool contained() { return check_.contains(means()); }
  std::string message() const {
    try {
      check_.check(words, counts);
    } catch (const StatusError& error) {
      return error.status().message;
    }
    return "";
  }
  void set_sum(std::size_t at, double value) {
    const auto quanta = static_cast<Int128>(value / plan_.quanta[at % 2]);
    words[at] = {static_cast<std::uint64_t>(quanta), static_cast<std::uint64_t>(quanta >> 64)};
  }

  std::vector<SumWords> words;
  std::vector<std::int64_t> counts;

 private:
  Dataset dataset_;
  SumPlan plan_;
  MeanCheck check_;
};

TEST(MeanCheck, AcceptsMeansAtTheEdgesOfTheData) {
  for (const double scale : {1.0, 1e-140, 1e140}) {
    Sums sums(scale);
    EXPECT_TRUE(sums.contained());
    EXPECT_EQ(sums.message(), "");
  }
}

TEST(MeanCheck, NamesTheSumThatIsOutOfRange) {
  Sums sums;
  sums.set_sum(3, 11);
  EXPECT_FALSE(sums.contained());
  EXPECT_EQ(
      sums.message(),
      "a partial pass: the sum of cluster 1, feature 1 is 11, where 2 samples of 0 to 5 sum up");
  sums.set_sum(3, -1);
  EXPECT_FALSE(sums.contained());
  EXPECT_EQ(
      sums.message(),
      "a partial pass: the sum of cluster 1, feature 1 is -1, where 2 samples of 0 to 5 sum up");
}

TEST(MeanCheck, NamesTheSumOfAClusterWithoutSamples) {
  Sums sums;
  sums.counts = {0, 3};
  EXPECT_EQ(
      sums.message(),
      "a partial pass: the sum of cluster 0, feature 0 is -3, where 0 samples of -3 to 5 sum up");
}

// Sums of 3 samples around both edges of the range of check(), which is 1e-9 of the largest value
// wider than the data.
TEST(MeanCheck, ContainsOnlyMeansThatCheckAccepts) {
  const Dataset dataset("edges", Matrix::from_values(std::vector<double>{-0.3, 0.7, 0.6}, 3, 1));
  const SumPlan plan = SumPlan::make(dataset.view());
  const MeanCheck check(plan, dataset.statistics().data());
  const std::vector<std::int64_t> counts = {3};
  int contained = 0;
  int refused = 0;
  for (const double edge : {-0.3 - 0.7e-9, -0.3 - 0.35e-9, 0.7 + 0.35e-9, 0.7 + 0.7e-9}) {
    const auto quanta = static_cast<Int128>(3 * edge / plan.quanta[0]);
    for (int offset = -300; offset <= 300; ++offset) {
      const Int128 sum = quanta + offset;
      const std::vector<SumWords> words = {
          {static_cast<std::uint64_t>(sum), static_cast<std::uint64_t>(sum >> 64)}};
      ClusterSums sums(plan, 1);
      sums.load(words.data(), counts.data());
      std::vector<double> means(1);
      move_to_means(sums, 1, std::vector<double>(1), means);
      bool accepted = true;
      try {
        check.check(words, counts);
      } catch (const StatusError&) {
        accepted = false;
      }
      if (check.contains(means)) {
        ++contained;
        EXPECT_TRUE(accepted) << means[0];
      }
      refused += accepted ? 0 : 1;
    }
  }
  EXPECT_GT(contained, 100);
  EXPECT_GT(refused, 100);
}

TEST(MeanCheck, ContainsNoMeanThatIsNotFinite) {
  const Dataset dataset("edges", Matrix::from_values(std::vector<double>{-1, 1}, 2, 1));
  const SumPlan plan = SumPlan::make(dataset.view());
  const MeanCheck check(plan, dataset.statistics().data());
  using Limits = std::numeric_limits<double>;
  for (const double mean : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
    EXPECT_FALSE(check.contains(std::vector<double>{0, mean})) << mean;
  }
  EXPECT_TRUE(check.contains(std::vector<double>{-1, 1}));
}

}  // namespace
}  // namespace lloyd
