// Criteria for choosing k against values of scikit-learn and of the definitions.
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/criteria.hpp>
#include <lloyd/data/row_source.hpp>
#include <lloyd/dataset.hpp>
#include <lloyd/error.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

using ClusterLabels = std::vector<std::int32_t>;

// Sample i is (7 i mod 11, i^2 mod 13, 5 i mod 7).
template <class T>
Matrix twenty_samples() {
  std::vector<T> values;
  for (std::int64_t i = 0; i < 20; ++i) {
    for (const std::int64_t value : {i * 7 % 11, i * i % 13, i * 5 % 7}) {
      values.push_back(static_cast<T>(value));
    }
  }
  return Matrix::from_values(std::move(values), 20, 3);
}

const ClusterLabels kTwentyLabels = {0, 1, 0, 2, 1, 1, 2, 1, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1};

// Computed by scikit-learn 1.9.1 (calinski_harabasz_score, davies_bouldin_score) and, for the
// simplified silhouette and the sum of squares, by NumPy from their definitions.
void expect_values_of_twenty(const ClusterCriteria& criteria) {
  EXPECT_EQ(criteria.clusters, 3);
  EXPECT_EQ(criteria.silhouette_samples, 20);
  EXPECT_NEAR(criteria.within_sum_of_squares, 474.25, 1e-9);
  EXPECT_NEAR(criteria.silhouette, 0.3150702806021495, 1e-12);
  EXPECT_NEAR(criteria.calinski_harabasz, 3.352503953610965, 1e-12);
  EXPECT_NEAR(criteria.davies_bouldin, 1.3600323502732496, 1e-12);
}

ClusterCriteria criteria_of_line(std::vector<double> values, const ClusterLabels& labels,
                                 std::int64_t clusters) {
  const auto n = static_cast<std::int64_t>(values.size());
  const Dataset dataset("line", Matrix::from_values(std::move(values), n, 1));
  return cluster_criteria(dataset, labels, clusters);
}

TEST(ClusterCriteria, EqualThoseOfScikitLearn) {
  expect_values_of_twenty(
      cluster_criteria(Dataset("twenty", twenty_samples<double>()), kTwentyLabels, 3));
  expect_values_of_twenty(
      cluster_criteria(Dataset("twenty", twenty_samples<float>()), kTwentyLabels, 3));
}

TEST(ClusterCriteria, OfDataReadInBlocks) {
  for (const std::int64_t block_rows : {0, 1, 3, 20}) {
    const Dataset dataset(
        std::shared_ptr<const RowSource>(rows_of("twenty", twenty_samples<float>())), 7);
    expect_values_of_twenty(cluster_criteria(dataset, kTwentyLabels, 3, block_rows));
  }
}

// Counts the blocks that are read.
class CountingSource final : public RowSource {
 public:
  explicit CountingSource(const Matrix& matrix) : inner_(rows_of("counted", matrix)) {}
  const std::string& name() const override { return inner_->name(); }
  std::int64_t samples() const override { return inner_->samples(); }
  std::int64_t features() const override { return inner_->features(); }
  DType dtype() const override { return inner_->dtype(); }
  void read(RowRange rows, void* values) const override {
    ++reads_;
    inner_->read(rows, values);
  }
  int take_reads() const { return reads_.exchange(0); }

 private:
  std::unique_ptr<RowSource> inner_;
  mutable std::atomic<int> reads_{0};
};

// Reading a row at a time would take hundreds of times longer.
TEST(ClusterCriteria, ReadLargeBlocksByDefault) {
  const auto source = std::make_shared<const CountingSource>(twenty_samples<float>());
  const Dataset dataset(source, 20);
  source->take_reads();
  expect_values_of_twenty(cluster_criteria(dataset, kTwentyLabels, 3));
  EXPECT_EQ(source->take_reads(), 2);  // a block in each pass
  simplified_silhouette(dataset, kTwentyLabels, 3);
  EXPECT_EQ(source->take_reads(), 2);
  EXPECT_THROW(cluster_criteria(dataset, kTwentyLabels, 3, -1), InputError);
}

TEST(ClusterCriteria, LeaveOutClustersWithoutSamples) {
  ClusterLabels labels = kTwentyLabels;
  for (std::int32_t& label : labels) label *= 2;
  expect_values_of_twenty(cluster_criteria(Dataset("twenty", twenty_samples<double>()), labels, 7));
}

// Means 0 and 10, spreads 1 and 0; the third sample is alone in its cluster.
TEST(ClusterCriteria, FollowTheirDefinitions) {
  const ClusterCriteria criteria = criteria_of_line({-1, 1, 10}, {0, 0, 1}, 2);
  EXPECT_DOUBLE_EQ(criteria.within_sum_of_squares, 2);
  EXPECT_DOUBLE_EQ(criteria.silhouette, (10.0 / 11 + 8.0 / 9 + 0) / 3);
  EXPECT_DOUBLE_EQ(criteria.davies_bouldin, 0.1);
  const double mean = 10.0 / 3;
  EXPECT_DOUBLE_EQ(criteria.calinski_harabasz,
                   (2 * mean * mean + (10 - mean) * (10 - mean)) / (2.0 / 1));
}

TEST(ClusterCriteria, AreUndefinedForOneCluster) {
  const ClusterCriteria criteria = criteria_of_line({1, 2, 6}, {1, 1, 1}, 2);
  EXPECT_EQ(criteria.clusters, 1);
  EXPECT_DOUBLE_EQ(criteria.within_sum_of_squares, 14);
  EXPECT_TRUE(std::isnan(criteria.silhouette));
  EXPECT_TRUE(std::isnan(criteria.calinski_harabasz));
  EXPECT_TRUE(std::isnan(criteria.davies_bouldin));
}

TEST(ClusterCriteria, OfOneSamplePerCluster) {
  const ClusterCriteria criteria = criteria_of_line({1, 2, 6}, {0, 1, 2}, 3);
  EXPECT_EQ(criteria.silhouette, 0);
  EXPECT_TRUE(std::isnan(criteria.calinski_harabasz));
  EXPECT_EQ(criteria.davies_bouldin, 0);
}

TEST(ClusterCriteria, OfMeansThatCoincide) {
  const ClusterCriteria criteria = criteria_of_line({-1, 1, -2, 2}, {0, 0, 1, 1}, 2);
  EXPECT_EQ(criteria.davies_bouldin, std::numeric_limits<double>::infinity());
  EXPECT_EQ(criteria.silhouette, 0);
  EXPECT_EQ(criteria.calinski_harabasz, 0);
}

TEST(ClusterCriteria, RefuseOtherLabels) {
  const auto message = [](const ClusterLabels& labels) -> std::string {
    try {
      criteria_of_line({1, 2, 6}, labels, 2);
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_EQ(message({0, 1}), "line: there are 2 labels for 3 samples");
  EXPECT_EQ(message({0, 1, 2}), "line: the label of row 2 (counted from 0) is 2, not in 0 to 1");
  EXPECT_EQ(message({0, -1, 1}), "line: the label of row 1 (counted from 0) is -1, not in 0 to 1");
}

TEST(ClusterCriteria, RefuseNumbersOfClustersAndOfRows) {
  const Dataset dataset("twenty", twenty_samples<float>());
  for (const std::int64_t clusters :
       {std::int64_t{-5}, std::int64_t{0}, std::int64_t{1} << 31, std::int64_t{1} << 62}) {
    EXPECT_EQ(message_of<InputError>([&] { cluster_criteria(dataset, kTwentyLabels, clusters); }),
              "twenty: clusters is " + std::to_string(clusters) + "; it must be 1 to 2147483647");
  }
  EXPECT_EQ(message_of<InputError>([&] { simplified_silhouette(dataset, kTwentyLabels, 3, -1); }),
            "twenty: block_rows is -1; it must be at least 1, or 0 for the default");
  // Clusters without samples take no memory.
  expect_values_of_twenty(cluster_criteria(dataset, kTwentyLabels, 2147483647));
}

TEST(ClusterCriteria, TheSilhouetteAloneIsTheSame) {
  const Dataset dataset("twenty", twenty_samples<float>());
  const ClusterCriteria all = cluster_criteria(dataset, kTwentyLabels, 3);
  const SimplifiedSilhouette silhouette = simplified_silhouette(dataset, kTwentyLabels, 3);
  EXPECT_EQ(silhouette.value, all.silhouette);
  EXPECT_EQ(silhouette.samples, all.silhouette_samples);
  EXPECT_THROW(simplified_silhouette(dataset, {}, 3), InputError);
}

TEST(ClusterCriteria, StopOnRequest) {
  const Dataset dataset("twenty", twenty_samples<float>());
  EXPECT_THROW(cluster_criteria(dataset, kTwentyLabels, 3, 1, [] { return true; }), Cancelled);
}

}  // namespace
}  // namespace lloyd
