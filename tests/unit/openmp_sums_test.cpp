// The openmp plugin's sums with wide vectors are those of ClusterSums, bit for bit.
#include <cmath>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/cluster_sums.hpp>

#include "openmp/instruction_set.hpp"
#include "openmp/sum_kernels.hpp"

namespace lloyd_openmp {
namespace {

constexpr std::int64_t kRows = 300;
constexpr std::int64_t kClusters = 4;

// Values of `bits` bits, some with fewer: the sums take one lane for each 50 of them.
template <class T>
std::vector<T> values_of(std::int64_t count, int bits) {
  std::mt19937_64 random(1);
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto shift = static_cast<int>(random() % static_cast<unsigned>(bits));
    const double value = std::ldexp(static_cast<double>(1 + random() % 1023), -shift);
    values.push_back(static_cast<T>(random() % 2 == 0 ? value : -value));
  }
  return values;
}

// Adds all samples twice, then moves every third one to another cluster.
template <class T>
std::vector<lloyd::SumWords> sum(const lloyd::SumPlan& plan, const std::vector<T>& values,
                                 const lloyd::SumKernels<T>& kernels) {
  lloyd::ClusterSums sums(plan, kClusters);
  std::vector<std::int32_t> labels;
  std::vector<lloyd::LabelChange> changes;
  const std::int64_t rows = std::ssize(values) / plan.features;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto label = static_cast<std::int32_t>(i % kClusters);
    labels.push_back(label);
    changes.push_back({i, -1, label});
    if (i % 3 == 0) changes.push_back({i, label, (label + 1) % std::int32_t{kClusters}});
  }
  sums.add(values.data(), plan.features, rows, labels.data(), kernels);
  sums.move(values.data(), plan.features, changes.data(), std::ssize(changes), kernels);
  std::vector<lloyd::SumWords> words(static_cast<std::size_t>(kClusters * plan.features));
  std::vector<std::int64_t> counts(kClusters);
  sums.store(words.data(), counts.data());
  for (const std::int64_t count : counts) words.push_back({static_cast<std::uint64_t>(count), 0});
  return words;
}

template <class T>
void check_sums(const std::vector<T>& values, std::int64_t d, int lanes) {
  const lloyd::Dataset data("samples", lloyd::Matrix::own(values, std::ssize(values) / d, d));
  const lloyd::SumPlan plan = lloyd::SumPlan::make(data.view());
  ASSERT_TRUE(plan.is_integer());
  EXPECT_EQ(plan.lanes, lanes);
  const std::vector<lloyd::SumWords> expected = sum<T>(plan, values, {});
  for (std::size_t choice = 0; choice < std::size(InstructionSet::kNames); ++choice) {
    const auto number = static_cast<std::int64_t>(choice);
    if (!InstructionSet::has(number)) continue;
    const lloyd::SumKernels<T> kernels = sum_kernels<T>(InstructionSet(number));
    ASSERT_NE(kernels.add, nullptr);
    ASSERT_NE(kernels.move, nullptr);
    const std::vector<lloyd::SumWords> found = sum<T>(plan, values, kernels);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(found[i].low, expected[i].low) << InstructionSet::kNames[choice] << ' ' << d;
      ASSERT_EQ(found[i].high, expected[i].high) << InstructionSet::kNames[choice] << ' ' << d;
    }
  }
}

template <class T>
void check() {
  for (const int bits : {20, 60, 105}) {
    for (const std::int64_t d : {1, 2, 3, 5, 7, 8, 11, 64, 100}) {
      check_sums(values_of<T>(kRows * d, bits), d, bits / 40 + 1);
    }
  }
}

// Great values of 49 bits, whose sums soon take more than 63, beside two features of 60 bits.
template <class T>
void check_narrow() {
  constexpr std::int64_t kManyRows = 50'000;
  for (const std::int64_t d : {11, 31, 67}) {
    std::vector<T> values;
    for (std::int64_t i = 0; i < kManyRows; ++i) {
      for (std::int64_t j = 0; j < d; ++j) {
        const bool wide = j == 2 || j == d - 1;
        const double least = wide ? 0x1p-10 : 1.0;
        values.push_back(static_cast<T>(
            i % 100 == 0 ? least : 0x1p49 - 0x1p27 - 0x1p28 * static_cast<double>(i % 7)));
      }
    }
    check_sums(values, d, 2);
  }
}

TEST(OpenmpSums, AreThoseOfClusterSums) {
  check<float>();
  check<double>();
}

TEST(OpenmpSums, AreThoseOfClusterSumsWhereOneLaneHoldsMostFeatures) {
  check_narrow<float>();
  check_narrow<double>();
}

}  // namespace
}  // namespace lloyd_openmp
