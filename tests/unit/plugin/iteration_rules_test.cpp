// The rules that all loops apply between two assignments.
#include <array>
#include <cstddef>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/plugin/sdk/iteration_rules.hpp>

namespace {

// The definition: 1024 partial sums, all of which take part in the pairwise reduction. CUDA kernels
// compute exactly this.
double shift_by_definition(const std::vector<double>& from, const std::vector<double>& to) {
  std::array<double, 1024> sums{};
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double move = to[i] - from[i];
    sums[i % sums.size()] += move * move;
  }
  for (std::size_t half = sums.size() / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

TEST(IterationRules, SquaredShiftHasTheDefinedOrderAtAnySize) {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> normal;
  for (const std::size_t size : {1, 2, 3, 63, 64, 65, 500, 1023, 1024, 1025, 2048, 5000}) {
    std::vector<double> from(size);
    std::vector<double> to(size);
    for (double& value : from) value = normal(generator);
    for (double& value : to) value = normal(generator);
    EXPECT_EQ(lloyd::squared_shift(from, to), shift_by_definition(from, to)) << size;
  }
}

}  // namespace
