// The rows of a file that the ranks of a command read.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/row_source.hpp>
#include <lloyd/dataset.hpp>
#include <lloyd/rounding.hpp>

#include "fit/ranks/rank_data.hpp"
#include "fit/ranks/rank_files.hpp"
#include "unit/support/run_ranks.hpp"

namespace lloyd::apps {
namespace {

// Integers as float64 values, rounded by up to 100 if `is_rounded`. Remembers which rows are read.
class RoundedRows final : public RowSource {
 public:
  RoundedRows(const std::vector<double>& values, bool is_rounded)
      : rows_(rows_of("integers", Matrix::from_values(values, std::ssize(values), 1))),
        is_rounded_(is_rounded) {}

  const std::string& name() const override { return rows_->name(); }
  std::int64_t samples() const override { return rows_->samples(); }
  std::int64_t features() const override { return 1; }
  DType dtype() const override { return DType::float64; }
  void read(RowRange rows, void* values) const override {
    begin_ = std::min<std::int64_t>(begin_, rows.begin);
    end_ = std::max<std::int64_t>(end_, rows.end);
    count_ += rows.size();
    rows_->read(rows, values);
  }
  std::vector<FeatureRounding> rounding() const override {
    if (!is_rounded_) return {};
    FeatureRounding feature;
    feature.dtype = DType::float64;
    feature.error = 100;
    feature.minimum = 0;
    feature.maximum = 1;
    return {feature};
  }
  // Expects that every row of the range was read once, and no other.
  void expect_read(RowRange rows) const {
    EXPECT_EQ(count_, rows.size());
    if (rows.size() == 0) return;
    EXPECT_EQ(begin_, rows.begin);
    EXPECT_EQ(end_, rows.end);
  }

 private:
  std::unique_ptr<RowSource> rows_;
  bool is_rounded_;
  mutable std::atomic<std::int64_t> begin_{std::numeric_limits<std::int64_t>::max()};
  mutable std::atomic<std::int64_t> end_{0};
  mutable std::atomic<std::int64_t> count_{0};
};

TEST(RankData, EachRankReadsItsRowsForWarningsOfRounding) {
  for (const std::vector<double>& values :
       {std::vector<double>{0, 512, 256, 1024, 2048, 768, 1280, 512, 0, 256},
        std::vector<double>{256, 1024}}) {
    const auto rows = std::ssize(values);
    const Dataset whole("integers", Matrix::from_values(values, rows, 1));
    const std::vector<RoundingLoss> expected =
        rounding_losses(RoundedRows(values, true).rounding(), whole.statistics());
    ASSERT_EQ(expected.size(), 1u);
    run_ranks(3, [&](const std::shared_ptr<Communicator>& communicator) {
      const auto rounded = std::make_shared<const RoundedRows>(values, true);
      const std::vector<RoundingLoss> found = rounding_losses_on_ranks(rounded, {}, communicator);
      ASSERT_EQ(found.size(), 1u);
      EXPECT_EQ(found[0].error, 100);
      EXPECT_EQ(found[0].deviation, expected[0].deviation);
      rounded->expect_read(rows_of_rank(rows, communicator->rank(), 3));
      const auto exact = std::make_shared<const RoundedRows>(values, false);
      EXPECT_TRUE(rounding_losses_on_ranks(exact, {}, communicator).empty());
      exact->expect_read({0, 0});
    });
  }
}

}  // namespace
}  // namespace lloyd::apps
