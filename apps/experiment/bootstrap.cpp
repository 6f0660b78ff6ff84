#include "experiment/bootstrap.hpp"

#include <algorithm>
#include <cstddef>

#include <lloyd/random.hpp>

#include "experiment/statistics.hpp"

namespace lloyd::experiment {
namespace {

constexpr std::size_t kResamples = 2000;
constexpr double kTail = 0.025;  // on either side of 95 %

}  // namespace

std::vector<double> resampled_medians(const std::vector<double>& values, std::uint64_t stream) {
  const RandomStream random(0, stream);
  const std::size_t n = values.size();
  std::vector<double> medians;
  std::vector<double> sample(n);
  std::uint64_t index = 0;
  for (std::size_t resample = 0; resample < kResamples; ++resample) {
    for (double& value : sample) value = values[random.below(n, index++)];
    medians.push_back(median(sample));
  }
  return medians;
}

MedianInterval percentile_interval(double estimate, const std::vector<double>& resampled) {
  return {estimate, quantile(resampled, kTail), quantile(resampled, 1 - kTail)};
}

MedianInterval median_interval(const std::vector<double>& values) {
  const double middle = median(values);
  if (values.empty()) return {middle, middle, middle};
  if (values.size() < kFewestForInterval) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return {middle, *low, *high};
  }
  return percentile_interval(middle, resampled_medians(values));
}

MedianInterval median_ratio_interval(const std::vector<double>& numerators,
                                     const std::vector<double>& denominators) {
  const double ratio = median(numerators) / median(denominators);
  if (std::min(numerators.size(), denominators.size()) < kFewestForInterval) {
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
