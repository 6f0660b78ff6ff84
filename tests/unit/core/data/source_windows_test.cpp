// Windows of rows that a pass reads from a source.
#include "dataset/source_windows.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/row_source.hpp>

namespace lloyd {
namespace {

constexpr std::int64_t kSourceSamples = 25;
constexpr std::int64_t kSourceFeatures = 3;
constexpr std::int64_t kSourceWindowRows = 10;

// The first value of row i is 3 i, and each further value is larger by 1.
std::vector<double> ascending_values() {
  std::vector<double> values(kSourceSamples * kSourceFeatures);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return values;
}

std::unique_ptr<RowSource> ascending_source(const std::vector<double>& values) {
  Matrix matrix;
  matrix.data = values.data();
  matrix.rows = kSourceSamples;
  matrix.columns = matrix.stride = kSourceFeatures;
  matrix.dtype = DType::float64;
  return rows_of("rows", matrix);
}

class SourceWindowsBy : public testing::TestWithParam<SourceWindows::Reading> {};

// A window is loaded in parts, the last part first.
TEST_P(SourceWindowsBy, HasTheRowsOfTheSource) {
  const std::vector<double> values = ascending_values();
  const std::unique_ptr<RowSource> source = ascending_source(values);
  RowBlocks blocks(*source, kSourceWindowRows);
  SourceWindows windows(blocks, GetParam(), nullptr);
  RowRange rows;
  while (rows.end < kSourceSamples) {
    const std::int64_t begin = rows.end;
    const void* data = nullptr;
    ASSERT_TRUE(windows.next(&rows, &data).ok());
    ASSERT_EQ(rows.begin, begin);
    const std::int64_t middle = rows.begin + rows.size() / 2;
    ASSERT_TRUE(windows.load({middle, rows.end}).ok());
    ASSERT_TRUE(windows.load({rows.begin, middle}).ok());
    const auto* const found = static_cast<const double*>(data);
    for (std::int64_t i = 0; i < rows.size() * kSourceFeatures; ++i) {
      ASSERT_EQ(found[i], static_cast<double>(rows.begin * kSourceFeatures + i)) << rows.begin;
    }
  }
  const void* data = nullptr;
  EXPECT_EQ(windows.next(&rows, &data).code, StatusCode::invalid_argument);
}

TEST_P(SourceWindowsBy, RefusesRowsOutsideOfTheWindow) {
  const std::vector<double> values = ascending_values();
  const std::unique_ptr<RowSource> source = ascending_source(values);
  RowBlocks blocks(*source, kSourceWindowRows);
  SourceWindows windows(blocks, GetParam(), nullptr);
  RowRange rows;
  const void* data = nullptr;
  ASSERT_TRUE(windows.next(&rows, &data).ok());
  ASSERT_TRUE(windows.next(&rows, &data).ok());
  EXPECT_EQ(windows.load({rows.begin - 1, rows.end}).code, StatusCode::invalid_argument);
  EXPECT_EQ(windows.load({rows.begin, rows.end + 1}).code, StatusCode::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Readings, SourceWindowsBy,
                         testing::Values(SourceWindows::Reading::ahead,
                                         SourceWindows::Reading::on_load),
                         [](const auto& reading) {
                           return reading.param == SourceWindows::Reading::ahead ? "ahead"
                                                                                 : "on_load";
                         });

}  // namespace
}  // namespace lloyd
