#include <lloyd/rounding.hpp>

#include <cmath>

#include <lloyd/plugin/sdk/float_environment.hpp>

namespace lloyd {

std::vector<RoundingLoss> rounding_losses(std::span<const FeatureRounding> rounding,
                                          std::span<const FeatureStatistics> statistics) {
  const FloatEnvironment environment;
  constexpr double kTolerance = 1e-3;
  std::vector<RoundingLoss> losses;
  for (std::size_t j = 0; j < rounding.size(); ++j) {
    const double deviation = std::sqrt(statistics[j].variance);
    if (rounding[j].minimum < rounding[j].maximum && rounding[j].error > kTolerance * deviation) {
      losses.push_back({static_cast<std::int64_t>(j), rounding[j].error, deviation,
                        rounding[j].dtype, rounding[j].exact_in_float64});
    }
  }
  return losses;
}

}  // namespace lloyd
