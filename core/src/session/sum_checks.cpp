#include "session/sum_checks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <lloyd/internal/format_count.hpp>

#include "session/partial_fault.hpp"

namespace lloyd {
namespace {

// Tolerance of compensated sums, relative to the largest possible sum; far above rounding errors.
constexpr double kSumTolerance = 1e-9;

// The value of a sum in the unit of the data.
double value_of(const SumPlan& plan, const SumWords& words, std::size_t feature) {
  if (!plan.is_integer()) {
    return std::bit_cast<double>(words.low) + std::bit_cast<double>(words.high);
  }
  const Int128 total = static_cast<Int128>(words.high) << 64 | words.low;
  return to_double(total) *
         plan.quanta[feature];  // a power of two: rounded only if the result is subnormal
}

double largest_of(const FeatureStatistics& feature) {
  return std::max(std::abs(feature.minimum), std::abs(feature.maximum));
}

}  // namespace

MeanCheck::MeanCheck(const SumPlan& plan, const FeatureStatistics* statistics)
    : plan_(plan), statistics_(statistics) {
  for (std::int64_t j = 0; j < plan.features; ++j) {
    const double slack = kSumTolerance * largest_of(statistics[j]);
    least_.push_back(statistics[j].minimum - slack);
    greatest_.push_back(statistics[j].maximum + slack);
    const double half_width = (statistics[j].maximum - statistics[j].minimum) / 2;
    centers_.push_back(statistics[j].minimum + half_width);
    // Half of the slack, so that rounding cannot accept what check() refuses.
    half_widths_.push_back(half_width + slack / 2);
  }
}

void MeanCheck::check_before_relocation(const std::vector<SumWords>& sums,
                                        const std::vector<std::int64_t>& counts) const {
  if (std::find(counts.begin(), counts.end(), 0) != counts.end()) check(sums, counts);
}

void MeanCheck::check_means(std::span<const double> means, const std::vector<SumWords>& sums,
                            const std::vector<std::int64_t>& counts) const {
  if (!contains(means)) check(sums, counts);
}

bool MeanCheck::contains(std::span<const double> means) const {
  const std::size_t d = centers_.size();
  double outside = 0;  // of the same width as a mean, so that compilers vectorize the loop
  for (std::size_t row = 0; row < means.size(); row += d) {
    for (std::size_t j = 0; j < d; ++j) {
      outside += std::abs(means[row + j] - centers_[j]) <= half_widths_[j] ? 0.0 : 1.0;
    }
  }
  return outside == 0;
}

void MeanCheck::check(const std::vector<SumWords>& sums,
                      const std::vector<std::int64_t>& counts) const {
  const std::size_t d = least_.size();
  for (std::size_t c = 0; c < counts.size(); ++c) {
    const auto count = static_cast<double>(counts[c]);
    for (std::size_t j = 0; j < d; ++j) {
      const double sum = value_of(plan_, sums[c * d + j], j);
      if (sum >= count * least_[j] && sum <= count * greatest_[j]) continue;
      throw_partial_fault("the sum of cluster {}, feature {} is {}, where {} of {} to {} sum up", c,
                          j, sum, format_count(counts[c], "sample"), statistics_[j].minimum,
                          statistics_[j].maximum);
    }
  }
}

void check_sums(const SumPlan& plan, const FeatureStatistics* statistics,
                const std::vector<SumWords>& sums, ClusterSums& expected) {
  const auto d = static_cast<std::size_t>(plan.features);
  std::vector<SumWords> words(sums.size());
  expected.store(words.data(), nullptr);
  for (std::size_t at = 0; at < sums.size(); ++at) {
    if (sums[at].low == words[at].low && sums[at].high == words[at].high) continue;
    const std::size_t j = at % d;
    const double sum = value_of(plan, sums[at], j);
    const double right = value_of(plan, words[at], j);
    const auto count = static_cast<double>(expected.count(static_cast<std::int64_t>(at / d)));
    const double slack = kSumTolerance * count * largest_of(statistics[j]);
    if (!plan.is_integer() && std::abs(sum - right) <= slack) continue;
    throw_partial_fault("the sum of cluster {}, feature {} is {}, but its samples sum up to {}",
                        at / d, j, sum, right);
  }
}

}  // namespace lloyd
