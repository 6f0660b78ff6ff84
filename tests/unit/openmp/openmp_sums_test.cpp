// The vectorised sums of the openmp plugin equal those of ClusterSums, bit for bit.
#include <cmath>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

#include "openmp/common/instruction_set.hpp"
#include "openmp/sums/sum_kernels.hpp"

namespace lloyd_openmp {
namespace {

constexpr std::int64_t kRows = 300;

// Values of up to `bits` bits, so that sums need one limb per 50 bits.
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

std::vector<lloyd::SumWords> words_of(lloyd::ClusterSums& sums, const lloyd::SumPlan& plan,
                                      std::int32_t clusters) {
  std::vector<lloyd::SumWords> words(static_cast<std::size_t>(clusters * plan.features));
  std::vector<std::int64_t> counts(static_cast<std::size_t>(clusters));
  sums.store(words.data(), counts.data());
  for (const std::int64_t count : counts) words.push_back({static_cast<std::uint64_t>(count), 0});
  return words;
}

// Adds all samples three times, and moves every third one, then all, to other clusters.
template <class T>
std::vector<lloyd::SumWords> sum(const lloyd::SumPlan& plan, const lloyd::DatasetView& view,
                                 std::int32_t clusters, const lloyd::SumKernels<T>& kernels) {
  lloyd::ClusterSums sums(plan, clusters);
  std::mt19937 random(2);
  std::vector<std::int32_t> labels;
  std::vector<lloyd::LabelChange> changes, joining, moving;
  for (std::int64_t i = 0; i < view.samples; ++i) {
    const auto label = static_cast<std::int32_t>(random() % static_cast<unsigned>(clusters));
    labels.push_back(label);
    changes.push_back({i, -1, label});
    if (i % 3 == 0) changes.push_back({i, label, (label + 1) % clusters});
  }
  const T* data = static_cast<const T*>(view.data);
  sums.add(data, view.stride, view.samples, labels.data(), kernels);
  sums.move(data, view.stride, changes.data(), std::ssize(changes), kernels);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto step = static_cast<std::int32_t>(1 + i % 3);
    joining.push_back({std::ssize(joining), -1, labels[i]});
    moving.push_back({std::ssize(moving), labels[i], (labels[i] + step) % clusters});
  }
  sums.move(data, view.stride, joining.data(), std::ssize(joining), kernels);
  sums.move(data, view.stride, moving.data(), std::ssize(moving), kernels);
  return words_of(sums, plan, clusters);
}

// Moves runs of consecutive samples. Runs end if the former or the new cluster differs, or if
// a row is skipped.
template <class T>
std::vector<lloyd::SumWords> sum_of_runs(const lloyd::SumPlan& plan, const lloyd::DatasetView& view,
                                         std::int32_t clusters,
                                         const lloyd::SumKernels<T>& kernels) {
  std::vector<lloyd::LabelChange> changes;
  std::int64_t row = 0;
  for (std::int32_t run = 0; row < view.samples; ++run) {
    const std::int32_t from = run / 2 % (clusters + 1) - 1, to = (run + 1) / 2 % clusters;
    const bool is_long = run % 50 == 49;
    const std::int32_t length = is_long ? 5000 : 1 + run * 7 % 37;
    for (std::int32_t i = 0; i < length && row < view.samples; ++i) {
      changes.push_back({row, from, to});
      row += !is_long && i % 20 == 9 ? 2 : 1;
    }
  }
  lloyd::ClusterSums sums(plan, clusters);
  const T* data = static_cast<const T*>(view.data);
  sums.move(data, view.stride, changes.data(), std::ssize(changes), kernels);
  // Every second sample.
  for (lloyd::LabelChange& change : changes) change.row /= 2;
  sums.move(data, 2 * view.stride, changes.data(), std::ssize(changes), kernels);
  return words_of(sums, plan, clusters);
}

template <class T>
using Sum = std::vector<lloyd::SumWords>(const lloyd::SumPlan&, const lloyd::DatasetView&,
                                         std::int32_t, const lloyd::SumKernels<T>&);

template <class T>
void check_sums(const std::vector<T>& values, std::int64_t d, int limbs, std::int32_t clusters = 4,
                Sum<T>* sum_up = sum<T>) {
  const lloyd::Dataset data("samples",
                            lloyd::Matrix::from_values(values, std::ssize(values) / d, d));
  const lloyd::SumPlan plan = lloyd::SumPlan::make(data.view());
  ASSERT_TRUE(plan.is_integer());
  EXPECT_EQ(plan.limbs, limbs);
  const std::vector<lloyd::SumWords> expected = sum_up(plan, data.view(), clusters, {});
  for (std::size_t choice = 0; choice < std::size(InstructionSet::kNames); ++choice) {
    const auto number = static_cast<std::int64_t>(choice);
    if (!InstructionSet::supported(number)) continue;
    const lloyd::SumKernels<T> kernels = sum_kernels<T>(InstructionSet(number));
    ASSERT_NE(kernels.add, nullptr);
    ASSERT_NE(kernels.move, nullptr);
    const std::vector<lloyd::SumWords> found = sum_up(plan, data.view(), clusters, kernels);
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

// Large values of `bits` bits, whose sums soon exceed 63 bits. `wide`: two features have 10 bits
// more.
template <class T>
void check_great(int bits, bool wide, const std::vector<std::int64_t>& features,
                 Sum<T>* sum_up = sum<T>) {
  constexpr std::int64_t kManyRows = 50'000;
  const double greatest = std::ldexp(1.0, bits);
  for (const std::int64_t d : features) {
    std::vector<T> values;
    for (std::int64_t i = 0; i < kManyRows; ++i) {
      for (std::int64_t j = 0; j < d; ++j) {
        const double least = wide && (j == 2 || j == d - 1) ? 0x1p-10 : 1.0;
        values.push_back(static_cast<T>(
            i % 100 == 0 ? least : greatest - 0x1p27 - 0x1p28 * static_cast<double>(i % 7)));
      }
    }
    check_sums(values, d, wide ? 2 : 1, 4, sum_up);
  }
}

TEST(OpenmpSums, MatchClusterSums) {
  check<float>();
  check<double>();
}

template <class T>
void check_runs() {
  for (const int bits : {20, 60, 105}) {
    for (const std::int64_t d : {1, 2, 3, 4}) {
      const std::vector<T> values = values_of<T>(kRows * d, bits);
      check_sums(values, d, bits / 40 + 1, 5, sum_of_runs<T>);
      check_sums(values, d, bits / 40 + 1, 1, sum_of_runs<T>);  // some runs stay in their cluster
    }
  }
}

TEST(OpenmpSums, MatchClusterSumsForSamplesThatMoveTogether) {
  check_runs<float>();
  check_runs<double>();
}

TEST(OpenmpSums, MatchClusterSumsIfOneLimbHoldsMostFeatures) {
  // One bit more than narrow values have, and exactly as many.
  for (const int bits : {50, 49}) {
    check_great<float>(bits, true, {11, 31, 67});
    check_great<double>(bits, true, {11, 31, 67});
  }
}

TEST(OpenmpSums, MatchClusterSumsIfOneLimbIsFull) {
  check_great<float>(50, false, {11, 31, 67});
  check_great<float>(50, false, {1, 2, 3}, sum_of_runs<float>);
  check_great<double>(50, false, {11, 31, 67});
  check_great<double>(50, false, {1, 2, 3}, sum_of_runs<double>);
}

// Also with more samples than a batch.
TEST(OpenmpSums, MatchClusterSumsForAnyNumberOfClusters) {
  constexpr std::int64_t kManyRows = kMaxBatchedSamples + 61;
  for (const std::int32_t clusters : {1, 2, 31, 32, 33, 100}) {
    for (const int bits : {20, 60}) {
      check_sums(values_of<float>(kManyRows * 67, bits), 67, bits / 40 + 1, clusters);
    }
  }
}

}  // namespace
}  // namespace lloyd_openmp
