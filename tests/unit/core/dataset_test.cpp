// Dataset: validation, statistics and fingerprint.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/row_source.hpp>
#include <lloyd/dataset.hpp>
#include <lloyd/error.hpp>
#include <lloyd/plugin/sdk/row_statistics.hpp>

#include "unit/support/defined_statistics.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string refusal(const Matrix& matrix) {
  return message_of<InputError>([&] { Dataset("points", matrix); });
}

Matrix shaped(std::int64_t rows, std::int64_t columns, std::int64_t stride) {
  static const double value = 1;
  Matrix matrix;
  matrix.data = &value;
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.stride = stride;
  matrix.dtype = DType::float64;
  return matrix;
}

TEST(Dataset, RefusesImpossibleShapes) {
  EXPECT_EQ(refusal(shaped(0, 2, 2)),
            "points: the data set has 0 rows and 2 columns; at least 1 of each is needed");
  EXPECT_EQ(refusal(shaped(3, 0, 0)),
            "points: the data set has 3 rows and 0 columns; at least 1 of each is needed");
  EXPECT_EQ(refusal(shaped(3, 4, 3)), "points: the stride 3 is below the number of columns 4");
  const std::int64_t many = std::int64_t{1} << 40;
  EXPECT_NE(refusal(shaped(many, many, many)).find("overflow 64-bit sizes"), std::string::npos);
  Matrix matrix = shaped(1, 1, 1);
  matrix.data = nullptr;
  EXPECT_EQ(refusal(matrix),
            "points: the data pointer is null; it must point to the samples (the matrix of a data "
            "set that is read in blocks has none: pass the data set itself, or label it with "
            "BackendSession::label())");
  matrix = shaped(1, 1, 1);
  matrix.dtype = static_cast<DType>(2);
  EXPECT_EQ(refusal(matrix), "points: the dtype is 2; it must be DType::float32 or float64");
}

TEST(Dataset, RefusesValuesOfAnotherNumberThanTheMatrixHas) {
  EXPECT_EQ(message_of<InputError>([] { Matrix::from_values(std::vector<float>(4), 3, 2); }),
            "4 values are given for 3 rows of 2 columns");
  EXPECT_EQ(message_of<InputError>([] { Matrix::from_values(std::vector<float>(4), 4, 2); }),
            "4 values are given for 4 rows of 2 columns; rows is the number of samples, not of "
            "values");
  EXPECT_EQ(message_of<InputError>([] { Matrix::from_values(std::vector<double>(1), -1, -1); }),
            "1 values are given for -1 rows of -1 columns")
      << "the product has the right size";
}

TEST(Dataset, NamesTheFirstValueThatIsNotFinite) {
  EXPECT_EQ(refusal(Matrix::from_values(std::vector<double>{1, 2, 3, kNan, kInfinity, 6}, 3, 2)),
            "points: row 1, column 1 (counted from 0) is nan; all values must be finite");
  EXPECT_EQ(refusal(Matrix::from_values(
                std::vector<float>{1, 2, -std::numeric_limits<float>::infinity(), 4}, 2, 2)),
            "points: row 1, column 0 (counted from 0) is -inf; all values must be finite");
}

TEST(Dataset, RefusesSquaresBeyondFloat64) {
  EXPECT_NE(refusal(Matrix::from_values(std::vector<double>{-1e150, 1e150}, 2, 1))
                .find("squared distances"),
            std::string::npos);
  EXPECT_NE(refusal(Matrix::from_values(std::vector<double>{1e300, 1e300}, 2, 1))
                .find("values reach 1e+300"),
            std::string::npos);
}

TEST(Dataset, StatisticsOfSmallData) {
  const Dataset dataset("points",
                        Matrix::from_values(std::vector<double>{1, -0.5, 2, 0.25, 6, 0}, 3, 2));
  const FeatureStatistics& first = dataset.statistics()[0];
  EXPECT_EQ(first.minimum, 1);
  EXPECT_EQ(first.maximum, 6);
  EXPECT_EQ(first.mean, 3);
  EXPECT_DOUBLE_EQ(first.variance, 14.0 / 3);
  EXPECT_EQ(first.quantum_exponent, 0);
  EXPECT_EQ(dataset.statistics()[1].quantum_exponent, -2);
  EXPECT_DOUBLE_EQ(dataset.mean_variance(),
                   (first.variance + dataset.statistics()[1].variance) / 2);
}

TEST(Dataset, QuantumIsTheLowestBitOfAnyValue) {
  const auto exponent = [](std::vector<double> values) {
    const auto rows = static_cast<std::int64_t>(values.size());
    return Dataset("points", Matrix::from_values(std::move(values), rows, 1))
        .statistics()[0]
        .quantum_exponent;
  };
  EXPECT_EQ(exponent({0, 0}), 0);
  EXPECT_EQ(exponent({8, -24}), 3);
  EXPECT_EQ(exponent({1, 0.1}), std::ilogb(0.1) - 51);  // the last bits of 0.1 are ...1010
  EXPECT_EQ(exponent({std::numeric_limits<double>::denorm_min(), 1}), -1074);
}

// Several blocks, far from the origin: no digit is lost to cancellation.
TEST(Dataset, VarianceFarFromTheOrigin) {
  constexpr std::int64_t kRows = 20000;
  std::vector<double> values;
  for (std::int64_t i = 0; i < kRows; ++i) values.push_back(1e8 + static_cast<double>(i % 5));
  const Dataset dataset("points", Matrix::from_values(std::move(values), kRows, 1));
  EXPECT_DOUBLE_EQ(dataset.statistics()[0].mean, 1e8 + 2);
  EXPECT_NEAR(dataset.statistics()[0].variance, 2, 1e-12);
}

// Random values of three scales; feature 1 is 0, feature 2 is 0 or -0.
template <class T>
std::vector<T> many_values(std::int64_t rows, std::int64_t columns) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::vector<T> values;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const double value = normal(random);
    const std::int64_t column = i % columns;
    values.push_back(static_cast<T>(column == 1 ? 0.0
                                    : column == 2
                                        ? std::copysign(0.0, value)
                                        : std::ldexp(value, static_cast<int>(i % 3) * 20)));
  }
  return values;
}

bool has_statistics(const Dataset& dataset, const std::vector<FeatureStatistics>& expected) {
  return dataset.statistics().size() == expected.size() &&
         std::memcmp(dataset.statistics().data(), expected.data(),
                     expected.size() * sizeof(FeatureStatistics)) == 0;
}

// The rows have one value more than features.
template <class T>
void expect_defined_statistics(std::int64_t rows, std::int64_t columns) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
  const std::vector<T> values = many_values<T>(rows, columns + 1);
  const Matrix matrix = Matrix::view(values.data(), rows, columns, columns + 1);
  const Dataset dataset("points", matrix);
  const std::vector<FeatureStatistics> expected =
      defined_statistics(values.data(), rows, columns, columns + 1);
  EXPECT_TRUE(has_statistics(dataset, expected));
  // Pieces that end inside blocks, and pieces of several blocks.
  for (const std::int64_t piece : {std::int64_t{1000}, 2 * kStatisticsBlockRows + 1}) {
    const Dataset streamed(std::shared_ptr<const RowSource>(rows_of("points", matrix)), piece);
    EXPECT_TRUE(has_statistics(streamed, expected)) << piece;
    EXPECT_EQ(streamed.fingerprint(), dataset.fingerprint()) << piece;
  }
}

TEST(Dataset, StatisticsOfManyValuesAreThoseOfTheirBlocks) {
  expect_defined_statistics<float>(9 * kStatisticsBlockRows + 100, 40);
  expect_defined_statistics<double>(3 * kStatisticsBlockRows, 150);
  expect_defined_statistics<float>(kStatisticsBlockRows, 300);
  expect_defined_statistics<float>(2100, 600);  // one block that has not all of its rows
}

TEST(Dataset, NamesTheFirstOfManyValuesThatIsNotFinite) {
  constexpr std::int64_t kRows = 6 * kStatisticsBlockRows;
  constexpr std::int64_t kColumns = 100;
  std::vector<float> values = many_values<float>(kRows, kColumns);
  const auto spoil = [&](std::int64_t row, std::int64_t column) {
    values[static_cast<std::size_t>(row * kColumns + column)] =
        std::numeric_limits<float>::quiet_NaN();
  };
  spoil(5 * kStatisticsBlockRows, 0);
  spoil(kStatisticsBlockRows + 8, 2);
  spoil(kStatisticsBlockRows + 7, 99);
  EXPECT_EQ(refusal(Matrix::from_values(values, kRows, kColumns)),
            "points: row 4103, column 99 (counted from 0) is nan; all values must be finite");
}

TEST(Dataset, HasSamplesByNumber) {
  const Matrix matrix = Matrix::from_values(std::vector<float>{1, 2, 3, 4}, 2, 2);
  const Dataset dataset("points", matrix);
  const Dataset streamed(std::shared_ptr<const RowSource>(rows_of("points", matrix)), 1);
  for (const Dataset* data : {&dataset, &streamed}) {
    EXPECT_EQ(data->sample(1), (std::vector<double>{3, 4}));
    for (const std::int64_t row : {-1, 2}) {
      EXPECT_EQ(message_of<InputError>([&] { data->sample(row); }),
                "points: sample " + std::to_string(row) +
                    " was requested; the data set has 2 samples, counted from 0");
    }
  }
}

// References into a temporary would dangle.
static_assert(std::is_same_v<decltype(std::declval<Dataset>().matrix()), Matrix>);
static_assert(
    std::is_same_v<decltype(std::declval<Dataset>().statistics()), std::vector<FeatureStatistics>>);

TEST(Dataset, FingerprintIsOfTheValues) {
  const auto print = [](std::vector<float> values, std::int64_t rows, std::int64_t columns) {
    return Dataset("points", Matrix::from_values(std::move(values), rows, columns)).fingerprint();
  };
  EXPECT_EQ(print({1, 2, 3, 4}, 2, 2), print({1, 2, 3, 4}, 2, 2));
  EXPECT_NE(print({1, 2, 3, 4}, 2, 2), print({1, 2, 4, 3}, 2, 2));
  EXPECT_NE(print({1, 2, 3, 4}, 2, 2), print({1, 2, 3, 4}, 4, 1));
  EXPECT_NE(
      print({1, 2, 3, 4}, 2, 2),
      Dataset("points", Matrix::from_values(std::vector<double>{1, 2, 3, 4}, 2, 2)).fingerprint());
}

TEST(Dataset, FingerprintAndStatisticsIgnoreTheStride) {
  const std::vector<double> gapped = {1, 2, kNan, 3, 4, kNan};
  Matrix matrix = shaped(2, 2, 3);
  matrix.data = gapped.data();
  const Dataset strided("points", matrix);
  const Dataset compact("points", Matrix::from_values(std::vector<double>{1, 2, 3, 4}, 2, 2));
  EXPECT_EQ(strided.fingerprint(), compact.fingerprint());
  EXPECT_EQ(strided.statistics()[1].maximum, 4);
  EXPECT_NE(strided.view().required_capabilities & kCapabilityStrided, 0u);
  EXPECT_EQ(compact.view().required_capabilities & kCapabilityStrided, 0u);
}

}  // namespace
}  // namespace lloyd
