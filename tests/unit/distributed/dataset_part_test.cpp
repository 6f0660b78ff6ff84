// Parts of a data set: the statistics of the whole, with the bits of one process.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/ranks.hpp>

#include "unit/support/rank_parts.hpp"
#include "unit/support/run_ranks.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

template <class T>
Matrix random_part_values(std::int64_t rows, std::int64_t columns, std::mt19937& random) {
  std::vector<T> values;
  std::uniform_int_distribution<int> digits(-9999, 9999);
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const int scale = static_cast<int>(i % columns) % 3;
    const double value = digits(random) * std::pow(10.0, scale);
    // Columns without sign, of zeros of both signs, and of one decimal.
    values.push_back(static_cast<T>(i % columns == 1   ? (digits(random) < 0 ? -0.0 : 0.0)
                                    : i % columns == 2 ? std::abs(value)
                                                       : value / 10));
  }
  return Matrix::from_values(std::move(values), rows, columns);
}

bool has_statistics_of_whole(const Dataset& part, const Dataset& whole) {
  const auto bytes = whole.statistics().size() * sizeof(FeatureStatistics);
  return part.statistics().size() == whole.statistics().size() &&
         std::memcmp(part.statistics().data(), whole.statistics().data(), bytes) == 0 &&
         part.mean_variance() == whole.mean_variance();
}

TEST(DatasetPart, HasTheStatisticsOfTheWhole) {
  std::mt19937 random(11);
  const std::vector<std::int64_t> sizes = {1, 5, 4095, 4096, 4097, 8192, 30000};
  for (int trial = 0; trial < 40; ++trial) {
    const std::int64_t rows = sizes[static_cast<std::size_t>(trial) % sizes.size()];
    const Matrix matrix = trial % 2 == 0 ? random_part_values<float>(rows, 1 + trial % 5, random)
                                         : random_part_values<double>(rows, 1 + trial % 5, random);
    const Dataset whole("points", matrix);
    for (const int ranks : {1, 2, 3, 7}) {
      const std::vector<std::int64_t> bounds = random_bounds(rows, ranks, random);
      run_ranks(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
        const Dataset part = trial % 3 == 0
                                 ? streamed_part_of(matrix, bounds, communicator, 1 + rows / 9)
                                 : part_of(matrix, bounds, communicator);
        const auto rank = static_cast<std::size_t>(communicator->rank());
        EXPECT_TRUE(has_statistics_of_whole(part, whole)) << rows << " rows, " << ranks << " ranks";
        EXPECT_EQ(part.first_row(), bounds[rank]);
        EXPECT_EQ(part.samples(), bounds[rank + 1] - bounds[rank]);
        EXPECT_EQ(part.total_samples(), rows);
        EXPECT_EQ(part.view().total_samples, rows);
        EXPECT_EQ(part.view().samples, part.samples());
      });
    }
  }
}

// Enough values for several threads on each rank; the parts of ranks 1 and 2 begin within blocks.
TEST(DatasetPart, OfManyValuesHasTheStatisticsOfTheWhole) {
  constexpr std::int64_t kRows = 20 * 4096 + 100;
  std::mt19937 random(12);
  const Matrix matrix = random_part_values<float>(kRows, 40, random);
  const Dataset whole("points", matrix);
  const std::vector<std::int64_t> bounds = {0, 7 * 4096 + 5, 14 * 4096 + 4095, kRows};
  run_ranks(3, [&](const std::shared_ptr<Communicator>& communicator) {
    EXPECT_TRUE(has_statistics_of_whole(part_of(matrix, bounds, communicator), whole));
  });
}

TEST(DatasetPart, WithoutACommunicatorIsAWholeDataSet) {
  const Dataset whole =
      Dataset::part("points", Matrix::from_values(std::vector{1.0, 4.0}, 2, 1), {});
  EXPECT_EQ(whole.total_samples(), 2);
  EXPECT_EQ(whole.first_row(), 0);
  EXPECT_EQ(whole.statistics()[0].mean, 2.5);
}

TEST(DatasetPart, AllRanksNameTheRankAndRowOfABadValue) {
  std::vector<double> values(20, 1.5);
  values[13] = std::numeric_limits<double>::quiet_NaN();
  const Matrix matrix = Matrix::from_values(values, 10, 2);
  run_ranks(3, [&](const std::shared_ptr<Communicator>& communicator) {
    EXPECT_EQ(message_of<InputError>([&] {
                part_of(matrix, {0, 4, 10, 10}, communicator);
              }),
              name_of_rank(1, host_name()) +
                  ": points: row 6, column 1 (counted from 0) is nan; all values must be finite");
  });
}

TEST(DatasetPart, AllRanksNameTheRankWithAnotherShape) {
  run_ranks(3, [&](const std::shared_ptr<Communicator>& communicator) {
    const std::int64_t columns = communicator->rank() == 2 ? 3 : 2;
    const Matrix matrix = Matrix::from_values(std::vector<double>(6), 6 / columns, columns);
    EXPECT_EQ(message_of<InputError>([&] { Dataset::part("points", matrix, communicator); }),
              "points: rank 2 has 3 columns of float64, where rank 0 has 2 of float64");
  });
  run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    const Matrix matrix = communicator->rank() == 1
                              ? Matrix::from_values(std::vector<float>(2), 1, 2)
                              : Matrix::from_values(std::vector<double>(2), 1, 2);
    EXPECT_EQ(message_of<InputError>([&] { Dataset::part("points", matrix, communicator); }),
              "points: rank 1 has 2 columns of float32, where rank 0 has 2 of float64");
    Matrix empty = matrix;
    empty.rows = 0;
    empty.dtype = DType::float64;
    EXPECT_EQ(message_of<InputError>([&] { Dataset::part("points", empty, communicator); }),
              "points: no rank has a row; at least 1 is needed");
    Matrix no_columns = matrix;
    no_columns.columns = communicator->rank();
    EXPECT_EQ(message_of<InputError>([&] { Dataset::part("points", no_columns, communicator); }),
              name_of_rank(0, host_name()) +
                  ": points: the data set has 1 row and 0 columns; at least 1 of each is needed");
  });
}

}  // namespace
}  // namespace lloyd
