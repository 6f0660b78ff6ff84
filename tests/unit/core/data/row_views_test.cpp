// Views of row sources.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <lloyd/data/row_views.hpp>
#include <lloyd/error.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class RowViews : public testing::Test {
 protected:
  using Values = std::vector<double>;

  static std::shared_ptr<const RowSource> source_of(Values values, std::int64_t columns) {
    const std::int64_t rows = std::ssize(values) / columns;
    return rows_of("s", Matrix::from_values(std::move(values), rows, columns));
  }
  static Values read(const RowSource& source, RowRange rows) {
    Values values(static_cast<std::size_t>(rows.size() * source.features()));
    source.read(rows, values.data());
    return values;
  }
  static Values all_of(const RowSource& source) { return read(source, {0, source.samples()}); }
};

TEST_F(RowViews, SelectColumnsInTheGivenOrder) {
  const auto source = source_of({1, 2, 3, 4, 5, 6}, 3);
  const auto view = select_columns(source, {2, 0});
  EXPECT_EQ(view->features(), 2);
  EXPECT_EQ(all_of(*view), (Values{3, 1, 6, 4}));
  EXPECT_EQ(read(*view, {1, 2}), (Values{6, 4}));
  EXPECT_GT(view->reading_bytes(), source->reading_bytes());
  EXPECT_THROW(select_columns(source, {3}), InputError);
  EXPECT_THROW(select_columns(source, {}), InputError);
}

TEST_F(RowViews, SelectColumnsOfManyRows) {
  constexpr std::int64_t kRows = 300'000;  // more than one tile
  Values values;
  for (std::int64_t i = 0; i < kRows * 4; ++i) values.push_back(static_cast<double>(i));
  const auto view = select_columns(source_of(std::move(values), 4), {1});
  const Values column = all_of(*view);
  for (std::int64_t i = 0; i < kRows; ++i) ASSERT_EQ(column[i], 4 * i + 1);
}

TEST_F(RowViews, SelectRows) {
  const auto source = source_of({1, 2, 3, 4, 5, 6, 7, 8}, 2);
  const auto view = select_rows(source, {1, 3});
  EXPECT_EQ(view->samples(), 2);
  EXPECT_EQ(all_of(*view), (Values{3, 4, 5, 6}));
  EXPECT_EQ(read(*view, {1, 2}), (Values{5, 6}));
  for (const RowRange rows : {RowRange{-1, 2}, RowRange{2, 2}, RowRange{3, 5}, RowRange{5, 6}}) {
    EXPECT_THROW(select_rows(source, rows), InputError);
  }
}

TEST_F(RowViews, LeaveOutRowsWithNaN) {
  const auto source = source_of({kNaN, 1, 2, 3, 4, 5, 6, kNaN, 7, 8}, 2);
  const auto view = complete_rows(source);
  ASSERT_EQ(view->samples(), 3);
  EXPECT_EQ(all_of(*view), (Values{2, 3, 4, 5, 7, 8}));
  EXPECT_EQ(read(*view, {1, 3}), (Values{4, 5, 7, 8}));
  EXPECT_EQ(read(*view, {2, 3}), (Values{7, 8}));
  std::vector<std::int64_t> missing;
  complete_rows(source, {}, nullptr, &missing);
  EXPECT_EQ(missing, (std::vector<std::int64_t>{1, 1}));
  EXPECT_THROW(complete_rows(source_of({kNaN, 1}, 2)), InputError);
  EXPECT_THROW(complete_rows(source, [] { return true; }), Cancelled);
}

TEST_F(RowViews, NameValuesByTheirPlaceInTheFile) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto source = source_of({1, 2, 3, kNaN, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, kInfinity}, 3);
  const std::string message =
      "s: row 4, column 2 (counted from 0) is inf; all values must be finite";
  const std::shared_ptr<const RowSource> views[] = {
      complete_rows(source), select_columns(source, {2, 1}), select_rows(source, {2, 5}),
      standardize(complete_rows(select_columns(select_rows(source, {1, 5}), {2, 0})),
                  {{0, 0}, {1, 1}})};
  for (const auto& view : views) {
    EXPECT_EQ(message_of<InputError>([&] { dataset_of(*view); }), message);
    EXPECT_EQ(message_of<InputError>([&] { const Dataset blocks(view, 2); }), message);
  }
  EXPECT_EQ(message_of<MissingValueError>([&] {
              dataset_of(*select_columns(source, {2, 0}));
            }),
            "s: row 1, column 0 (counted from 0) is nan; all values must be finite");
}

TEST_F(RowViews, RefuseRowsThatDoNotExist) {
  const auto source = source_of({1, 2, 3, 4, 5, 6, kNaN, 8}, 2);
  const std::shared_ptr<const RowSource> views[] = {
      select_columns(source, {1}), select_rows(source, {1, 3}), complete_rows(source),
      standardize(source, {{0, 0}, {1, 1}})};
  Values values(20);
  for (const auto& view : views) {
    const std::int64_t n = view->samples();
    for (const RowRange rows :
         {RowRange{0, n + 1}, RowRange{n, n + 1}, RowRange{-1, 1}, RowRange{1, 0}}) {
      EXPECT_EQ(message_of<InputError>([&] { view->read(rows, values.data()); }),
                fmt::format("s: the rows from {} up to {} were requested; there are {}, counted "
                            "from 0",
                            rows.begin, rows.end, n));
    }
    view->read({n, n}, values.data());
  }
}

TEST_F(RowViews, RefuseANullSource) {
  const std::shared_ptr<const RowSource> none;
  const auto refusal = [](const auto& view) { return message_of<InputError>(view); };
  EXPECT_EQ(refusal([&] { select_columns(none, {0}); }),
            "select_columns(): the source of rows is a null pointer");
  EXPECT_EQ(refusal([&] {
              select_rows(none, {0, 1});
            }),
            "select_rows(): the source of rows is a null pointer");
  EXPECT_EQ(refusal([&] { complete_rows(none); }),
            "complete_rows(): the source of rows is a null pointer");
  EXPECT_EQ(refusal([&] {
              standardize(none, {{0}, {1}});
            }),
            "standardize(): the source of rows is a null pointer");
}

TEST_F(RowViews, RefuseAnInvalidStandardization) {
  const auto source = source_of({1, 2}, 1);
  for (const double deviation : {0.0, -1.0, kNaN, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(message_of<InputError>([&] {
                standardize(source, {{0}, {deviation}});
              }),
              fmt::format("a standardization has the mean 0 and the deviation {} for feature 0; "
                          "the mean must be finite, and the deviation finite and above 0",
                          deviation));
  }
  EXPECT_THROW(standardize(source, {{kNaN}, {1}}), InputError);
  const Matrix matrix = Matrix::from_values(std::vector<float>{1, 2}, 2, 1);
  EXPECT_THROW(standardize(matrix, {{0}, {0}}), InputError);
  EXPECT_THROW((Standardization{{0}, {0}}.apply({1})), InputError);
  EXPECT_THROW((Standardization{{0, 0}, {1, 1}}.undo({1})), InputError);
}

// A source that never fills its last row.
class WithoutLastRow final : public RowSource {
 public:
  const std::string& name() const override { return name_; }
  std::int64_t samples() const override { return 3; }
  std::int64_t features() const override { return 2; }
  DType dtype() const override { return DType::float64; }
  void read(RowRange rows, void* values) const override {
    std::fill_n(static_cast<double*>(values),
                2 * (std::min<std::int64_t>(rows.end, 2) - rows.begin), 1.0);
  }

 private:
  std::string name_ = "two of three";
};

TEST_F(RowViews, NameARowThatTheSourceDoesNotFill) {
  const auto source = std::make_shared<const WithoutLastRow>();
  const std::string expected =
      "two of three: read() was asked for the rows 0 to 2 and returned without all values of row "
      "2; it must fill every row, or throw";
  const auto message = [](const auto& body) -> std::string {
    try {
      body();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message([&] { all_of(*select_columns(source, {1})); }), expected);
  EXPECT_EQ(message([&] { all_of(*standardize(source, {{0, 0}, {1, 1}})); }), expected);
  EXPECT_EQ(message([&] { complete_rows(source); }), expected);
  EXPECT_EQ(message([&] { matrix_of(*select_rows(source, {0, 3})); }), expected);
}

TEST_F(RowViews, StandardizeToMeanZeroAndDeviationOne) {
  const auto source = source_of({1, 5, 10, 3, 5, 30}, 3);
  const Dataset data("s", matrix_of(*source));
  const Standardization map = Standardization::of(data.statistics());
  EXPECT_EQ(map.mean, (Values{2, 5, 20}));
  EXPECT_EQ(map.deviation, (Values{1, 1, 10}));
  EXPECT_EQ(all_of(*standardize(source, map)), (Values{-1, 0, -1, 1, 0, 1}));
  EXPECT_EQ(map.apply({1, 5, 10}), (Values{-1, 0, -1}));
  EXPECT_EQ(map.undo({-1, 0, -1}), (Values{1, 5, 10}));
  EXPECT_THROW(standardize(source_of({1, 2}, 2), map), InputError);
}

TEST_F(RowViews, StandardizeWithTheDefaultRounding) {
  const Standardization map{{0}, {3}};
  const auto view = standardize(source_of({1, 2}, 1), map);
  const Values nearest = all_of(*view);
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  const Values upward = all_of(*view);
  const Values applied = map.apply({1, 2});
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(upward, nearest);
  EXPECT_EQ(applied, nearest);
}

}  // namespace
}  // namespace lloyd
