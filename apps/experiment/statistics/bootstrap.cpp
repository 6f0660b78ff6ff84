#include "experiment/statistics/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>

#include <lloyd/random.hpp>

#include "experiment/statistics/statistics.hpp"

namespace lloyd::experiment {
namespace {

constexpr std::size_t kResamples = 2000;
constexpr double kTail = 0.025;  // probability outside the 95 % interval, on each side

// Samples the bootstrap median without drawing n values. The median of n draws from n sorted values
// is the value at rank n B, where B, the median of n uniform numbers, follows Beta(n/2, n/2). Up to
// terms of order 1/n, that is a normal distribution with mean 1/2 and variance 1/(4n). Source: B.
// Efron, "The jackknife, the bootstrap and other resampling plans", 1982, section 10.3.
std::vector<double> resampled_medians_of_many(std::vector<double> values,
                                              const RandomStream& random) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  std::vector<double> medians;
  medians.reserve(kResamples);
  for (std::size_t resample = 0; resample < kResamples; ++resample) {
    const double place = (n - 1) / 2 + std::sqrt(n) / 2 * random.normal(resample);
    const double rank = std::clamp(std::round(place), 0.0, n - 1);
    medians.push_back(values[static_cast<std::size_t>(rank)]);
  }
  return medians;
}

// Returns the indices that each resample draws from n values. Cached, since all rows of a summary
// with the same number of values use the same draws.
const std::vector<std::uint16_t>& draws_of(std::size_t n, std::uint64_t stream) {
  static_assert(kMaxResampled <= std::numeric_limits<std::uint16_t>::max());
  // draws of the last n, by stream
  thread_local std::map<std::uint64_t, std::vector<std::uint16_t>> kept;
  std::vector<std::uint16_t>& draws = kept[stream];
  if (draws.size() == kResamples * n) return draws;
  const RandomStream random(0, stream);
  draws.resize(kResamples * n);
  for (std::size_t index = 0; index < draws.size(); ++index) {
    draws[index] = static_cast<std::uint16_t>(random.below(n, index));
  }
  return draws;
}

// Computes medians of resamples from the ranks of their values, without sorting each resample.
class Ranking {
 public:
  explicit Ranking(const std::vector<double>& values) : sorted_(values), ranks_(values.size()) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      ranks_[order[rank]] = rank;
      sorted_[rank] = values[order[rank]];
    }
  }

  // Equals median() of the resample given by `draws`, n indices into the values.
  double median_of(const std::uint16_t* draws) const {
    const std::size_t n = sorted_.size();
    counts_.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i) ++counts_[ranks_[draws[i]]];
    const std::size_t lower = (n - 1) / 2;  // rank of the median among the draws
    std::size_t rank = 0;
    std::size_t passed = counts_[0];
    while (passed <= lower) passed += counts_[++rank];
    const double at = sorted_[rank];
    if (n % 2 == 1) return at;
    while (passed <= lower + 1) passed += counts_[++rank];
    return at + 0.5 * (sorted_[rank] - at);
  }

 private:
  std::vector<double> sorted_;
  std::vector<std::size_t> ranks_;  // rank of each value
  mutable std::vector<std::uint32_t> counts_;
};

}  // namespace

std::vector<double> resampled_medians(const std::vector<double>& values, std::uint64_t stream) {
  if (values.size() > kMaxResampled) {
    return resampled_medians_of_many(values, RandomStream(0, stream));
  }
  const std::vector<std::uint16_t>& draws = draws_of(values.size(), stream);
  const Ranking ranking(values);
  std::vector<double> medians;
  medians.reserve(kResamples);
  for (std::size_t resample = 0; resample < kResamples; ++resample) {
    medians.push_back(ranking.median_of(draws.data() + resample * values.size()));
  }
  return medians;
}

MedianInterval percentile_interval(double estimate, const std::vector<double>& resampled) {
  return {estimate, quantile(resampled, kTail), quantile(resampled, 1 - kTail)};
}

MedianInterval median_interval(const std::vector<double>& values) {
  const double middle = median(values);
  if (values.empty()) return {middle, middle, middle};
  if (values.size() < kMinTimingsForInterval) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return {middle, *low, *high};
  }
  return percentile_interval(middle, resampled_medians(values));
}

MedianInterval ratio_interval(std::vector<double> ratios) {
  if (ratios.empty()) return median_interval(ratios);
  std::vector<double> logarithms;
  for (const double ratio : ratios) logarithms.push_back(std::log(ratio));
  std::sort(ratios.begin(), ratios.end());
  const double below = ratios[(ratios.size() - 1) / 2];
  const double above = ratios[ratios.size() / 2];
  const double middle = below * std::sqrt(above / below);
  if (ratios.size() < kMinTimingsForInterval || ratios.front() == ratios.back()) {
    return {middle, ratios.front(), ratios.back()};
  }
  const MedianInterval interval = percentile_interval(0, resampled_medians(logarithms));
  return {middle, std::exp(interval.low), std::exp(interval.high)};
}

MedianInterval median_ratio_interval(const std::vector<double>& numerators,
                                     const std::vector<double>& denominators) {
  const double ratio = median(numerators) / median(denominators);
  if (std::min(numerators.size(), denominators.size()) < kMinTimingsForInterval) {
    const auto [least, most] = std::minmax_element(numerators.begin(), numerators.end());
    const auto [below, above] = std::minmax_element(denominators.begin(), denominators.end());
    return {ratio, *least / *above, *most / *below};
  }
  std::vector<double> ratios = resampled_medians(numerators, 1);
  const std::vector<double> medians = resampled_medians(denominators, 2);
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] /= medians[i];
  return percentile_interval(ratio, ratios);
}

}  // namespace lloyd::experiment
