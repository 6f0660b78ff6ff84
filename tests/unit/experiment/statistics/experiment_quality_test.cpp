// No speedup without quality; formatting of numbers.
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "experiment/statistics/quality.hpp"
#include "text/numbers.hpp"

namespace lloyd::experiment {
namespace {

Quality quality(Accuracy accuracy, double after_one = 100, double final = 50) {
  return {accuracy, 1000, after_one, 0, final};
}

// Compares with a speedup whose interval is a point.
Comparison compare(const Quality& result, double time, const Quality& baseline,
                   double baseline_time) {
  const double speedup = baseline_time / time;
  return compare(result, baseline, MedianInterval{speedup, speedup, speedup});
}

TEST(ExperimentQuality, TheIntervalFollowsTheSpeedup) {
  const Comparison comparison =
      compare(quality(Accuracy::exact), quality(Accuracy::float32), {2.31, 2.25, 2.38});
  EXPECT_EQ(comparison.speedup->low, 2.25);
  EXPECT_EQ(comparison.text, "2.31 (2.25 - 2.38) over float32");
}

TEST(ExperimentQuality, EqualAccuracyGivesASpeedup) {
  for (const Accuracy accuracy : {Accuracy::exact, Accuracy::float32}) {
    const Comparison comparison = compare(quality(accuracy), 2, quality(accuracy), 7);
    EXPECT_EQ(comparison.speedup->median, 3.5);
    EXPECT_EQ(comparison.text, "3.50");
  }
}

TEST(ExperimentQuality, InertiaAfterOneIterationMustAgree) {
  const Quality baseline = quality(Accuracy::exact);
  EXPECT_TRUE(compare(quality(Accuracy::exact, 100 * (1 + 9e-7)), 1, baseline, 1).speedup);
  const Comparison comparison = compare(quality(Accuracy::exact, 100 * (1 + 2e-6)), 1, baseline, 1);
  EXPECT_FALSE(comparison.speedup);
  EXPECT_EQ(comparison.text, "inertia +2.0e-06 after 1 iteration");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(compare(quality(Accuracy::exact, nan), 1, baseline, 1).speedup);
}

TEST(ExperimentQuality, FinalInertiaMustBeWithinTwoPercent) {
  const Quality baseline = quality(Accuracy::exact);
  EXPECT_TRUE(compare(quality(Accuracy::exact, 100, 50.9), 1, baseline, 1).speedup);
  EXPECT_EQ(compare(quality(Accuracy::exact, 100, 40), 1, baseline, 1).text,
            "final inertia -20.0%");
  EXPECT_EQ(compare(quality(Accuracy::exact, 100, 100), 1, baseline, 1).text,
            "final inertia +50.0%");
  EXPECT_TRUE(
      compare(quality(Accuracy::exact, 0, 0), 1, quality(Accuracy::exact, 0, 0), 1).speedup);
}

TEST(ExperimentQuality, CanonicalResultsMustBeTheSame) {
  const auto canonical = [](std::int64_t iterations, double final) {
    Quality result = quality(Accuracy::exact, 100, final);
    result.canonical = true;
    result.iterations = iterations;
    return result;
  };
  EXPECT_TRUE(compare(canonical(14, 50), 1, canonical(14, 50), 1).speedup);
  EXPECT_TRUE(compare(canonical(0, 50), 1, canonical(14, 50), 1).speedup);
  Comparison comparison = compare(canonical(2, 50.5), 1, canonical(14, 50), 1);
  EXPECT_FALSE(comparison.speedup);
  EXPECT_EQ(comparison.text, "2 iterations instead of 14, but both stated canonical");
  comparison = compare(canonical(14, 50.5), 1, canonical(14, 50), 1);
  EXPECT_FALSE(comparison.speedup);
  EXPECT_EQ(comparison.text, "final inertia +9.9e-03, but both stated canonical");
  // Others may end after another number of iterations.
  Quality other = quality(Accuracy::exact, 100, 50.5);
  other.iterations = 2;
  EXPECT_TRUE(compare(other, 1, canonical(14, 50), 1).speedup);
}

TEST(ExperimentQuality, ALessAccurateBackendHasNoSpeedup) {
  const Comparison comparison =
      compare(quality(Accuracy::float32), 1, quality(Accuracy::exact), 10);
  EXPECT_FALSE(comparison.speedup);
  EXPECT_EQ(comparison.text, "less accurate: float32");
}

TEST(ExperimentQuality, ASpeedupNamesALessAccurateBaseline) {
  const Comparison comparison =
      compare(quality(Accuracy::exact), 1, quality(Accuracy::float32), 10);
  EXPECT_EQ(comparison.speedup->median, 10);
  EXPECT_EQ(comparison.text, "10.0 over float32");
  // A backend of half accuracy: wrong labels are reported, and the inertia after one iteration is
  // not compared.
  Quality half = quality(Accuracy::half, 100.1);
  half.wrong_labels = 12;
  EXPECT_EQ(compare(quality(Accuracy::exact), 1, half, 10).text,
            "10.0 over half, 1.20% labels wrong");
  EXPECT_EQ(compare(half, 1, half, 10).text, "10.0, 1.20% labels wrong (1.20% labels wrong)");
}

TEST(ExperimentQuality, AnExactBackendHasNoWrongLabels) {
  Quality liar = quality(Accuracy::exact);
  liar.wrong_labels = 3;
  EXPECT_EQ(compare(liar, 1, quality(Accuracy::exact), 10).text,
            "3 wrong labels, but stated exact");
  EXPECT_EQ(compare(quality(Accuracy::exact), 1, liar, 10).text,
            "baseline: 3 wrong labels, but stated exact");
}

TEST(ExperimentNumbers, AreReadable) {
  EXPECT_EQ(format_number(1.2345), "1.23");
  EXPECT_EQ(format_number(45.64), "45.6");
  EXPECT_EQ(format_number(99.96), "100");
  EXPECT_EQ(format_number(123456.7), "123457");
  EXPECT_EQ(format_number(1.2e7), "1.20e+07");
  EXPECT_EQ(format_number(0.01234), "0.0123");
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(format_bytes(1000), "1000 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(std::int64_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(format_bytes(std::int64_t{1} << 50), "1.0 PiB");
  EXPECT_EQ(format_bytes(std::int64_t{1} << 61), "2.0 EiB");
  EXPECT_EQ(format_seconds(0.4), "0 s");
  EXPECT_EQ(format_seconds(125), "2 min 05 s");
  EXPECT_EQ(format_seconds(3900), "1 h 05 min");
}

}  // namespace
}  // namespace lloyd::experiment
