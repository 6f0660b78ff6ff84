#include "experiment/statistics/timings.hpp"

namespace lloyd::experiment {

std::vector<double> values_of(const Timings& timings) {
  std::vector<double> values;
  for (const auto& [round, value] : timings) values.push_back(value);
  return values;
}

std::vector<double> paired_ratios(const Timings& numerators, const Timings& denominators) {
  std::vector<double> ratios;
  for (const auto& [round, numerator] : numerators) {
    const auto denominator = denominators.find(round);
    if (denominator != denominators.end()) ratios.push_back(numerator / denominator->second);
  }
  return ratios;
}

}  // namespace lloyd::experiment
