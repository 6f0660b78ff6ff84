#include "random_fits/random_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lloyd::random_fits {
namespace {

using conformance::Numbers;
using conformance::Samples;

constexpr double kMaxWork = 5e7;  // squared differences that the reference computes

// Log-uniform, so that every order of magnitude is equally likely.
std::int64_t log_uniform(Numbers& numbers, std::int64_t low, std::int64_t high) {
  const double ratio = static_cast<double>(high + 1) / static_cast<double>(low);
  const double value = static_cast<double>(low) * std::pow(ratio, numbers.uniform());
  return std::clamp(static_cast<std::int64_t>(value), low, high);
}

struct NamedSamples {
  const char* kind;
  Samples samples;
};

// Copies of a few rows: ties, and more clusters than distinct points.
Samples duplicates(std::int64_t n, std::int64_t d, std::uint64_t seed, Numbers& numbers) {
  const std::int64_t distinct = std::min<std::int64_t>(n, numbers.integer(1, 9));
  const Samples few = conformance::cloud(distinct, d, seed);
  std::vector<std::int64_t> rows(n);
  for (std::int64_t& row : rows) row = numbers.integer(0, distinct - 1);
  return conformance::selected(few, rows);
}

NamedSamples draw_samples(std::int64_t n, std::int64_t d, Numbers& numbers) {
  const std::uint64_t seed = numbers.bits();
  switch (numbers.integer(0, 7)) {
    case 0:
      return {"lattice", conformance::lattice(n, d, numbers.integer(1, 50), seed)};
    case 1:
      return {"separated blobs", conformance::blobs(n, d, numbers.integer(1, 20), 1.5, seed)};
    case 2:
      return {"overlapping blobs", conformance::blobs(n, d, numbers.integer(2, 20), 8, seed)};
    case 3:
      return {"far from the origin",
              conformance::transformed(conformance::cloud(n, d, seed), 1, 1e6)};
    case 4:
      return {"tiny values", conformance::transformed(conformance::cloud(n, d, seed), 1e-30, 0)};
    case 5:
      return {"wide range", conformance::wide_range(n, d, 1e6, seed)};
    case 6:
      return {"duplicates", duplicates(n, d, seed, numbers)};
    default:
      return {"one cloud", conformance::cloud(n, d, seed)};
  }
}

// Mostly distinct rows in random order; sometimes repeated rows, which leave clusters empty.
std::vector<double> draw_centroids(const Samples& samples, std::int64_t k, Numbers& numbers) {
  std::vector<std::int64_t> rows(samples.n);
  for (std::int64_t i = 0; i < samples.n; ++i) rows[i] = i;
  for (std::int64_t i = 0; i < k; ++i) {
    std::swap(rows[i], rows[numbers.integer(i, samples.n - 1)]);
  }
  if (numbers.integer(0, 5) == 0) {
    for (std::int64_t i = 1; i < k; ++i) {
      if (numbers.integer(0, 2) == 0) rows[i] = rows[i - 1];
    }
  }
  rows.resize(k);
  return conformance::selected(samples, rows).values;
}

}  // namespace

Problem draw_problem(std::uint64_t seed, Reproducibility on_float32) {
  Numbers numbers(seed);
  Problem problem;
  const bool wide = numbers.integer(0, 1) == 0 || on_float32 != Reproducibility::canonical;
  problem.dtype = wide ? DType::float64 : DType::float32;
  const std::int64_t n = log_uniform(numbers, 1, 5000);
  const std::int64_t d = log_uniform(numbers, 1, 300);
  NamedSamples drawn = draw_samples(n, d, numbers);
  problem.kind = drawn.kind;
  problem.samples = conformance::rounded(std::move(drawn.samples), problem.dtype);

  conformance::Setting& setting = problem.setting;
  setting.clusters = log_uniform(numbers, 1, std::min<std::int64_t>(n, 300));
  setting.centroids = draw_centroids(problem.samples, setting.clusters, numbers);
  const double pass = static_cast<double>(n * d * setting.clusters);
  const auto most = static_cast<std::int64_t>(std::clamp(kMaxWork / pass, 1.0, 40.0));
  setting.max_iterations = numbers.integer(1, most);
  setting.fixed = numbers.integer(0, 2) == 0;
  setting.tolerance = numbers.integer(0, 2) == 0 ? 1e-3 : 0;
  setting.empty = numbers.integer(0, 3) == 0 ? EmptyClusters::keep : EmptyClusters::relocate;
  problem.layout = {numbers.integer(0, 2), numbers.integer(0, 3)};
  return problem;
}

ParameterSet draw_parameters(const ParameterSet& defaults, std::uint64_t seed) {
  constexpr std::array<std::int64_t, 6> kIntegers = {0, 1, 2, 3, 7, 1000};
  Numbers numbers(seed);
  ParameterSet drawn = defaults;
  for (const ParameterInfo& parameter : defaults.schema()) {
    switch (parameter.type) {
      case ParameterType::choice:
        drawn.set(parameter.name,
                  parameter.choices[numbers.integer(0, parameter.choice_count - 1)]);
        break;
      case ParameterType::boolean:
        drawn.set(parameter.name, numbers.integer(0, 1) == 0 ? "false" : "true");
        break;
      case ParameterType::integer: {
        const std::int64_t value = kIntegers[numbers.integer(0, kIntegers.size() - 1)];
        const bool many_threads = std::string_view(parameter.name) == "threads" && value > 7;
        if (value >= parameter.integer_minimum && value <= parameter.integer_maximum &&
            !many_threads) {
          drawn.set(parameter.name, fmt::format("{}", value));
        }
        break;
      }
      case ParameterType::number:
        break;
    }
  }
  return drawn;
}

}  // namespace lloyd::random_fits
