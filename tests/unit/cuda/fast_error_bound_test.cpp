// The error bound of cuda-fast's screens, against an emulation of their arithmetic with the largest
// errors that the bound allows; no device is needed.
#include "cuda-fast/common/error_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cuda-fast/common/screen_units.hpp"

namespace lloyd_cuda_fast {
namespace {

constexpr double kBiasUnit = 0x1p15;
constexpr double kMaxHalf = 65504;

// Rounds to FP16, to nearest, ties to even.
double to_half(double value) {
  if (value == 0) return 0;
  const int exponent = std::max(std::ilogb(value), -14) - 10;
  return std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
}
double to_clamped_half(double value) {
  return to_half(std::clamp(value, -kMaxHalf, kMaxHalf));
}

// Truncates to a multiple of 2^exponent.
double truncate(double value, int exponent) {
  return std::ldexp(std::trunc(std::ldexp(value, -exponent)), exponent);
}

// One step of a tensor core: every addend is truncated to 24 bits relative to the largest one, and
// so is the sum.
double add_step(double accumulator, const double* products) {
  double largest = std::abs(accumulator);
  for (int i = 0; i < kStepFeatures; ++i) largest = std::max(largest, std::abs(products[i]));
  if (largest == 0) return 0;
  const int exponent = std::ilogb(largest) - 23;
  double sum = truncate(accumulator, exponent);
  for (int i = 0; i < kStepFeatures; ++i) sum += truncate(products[i], exponent);
  return sum == 0 ? 0 : truncate(sum, std::ilogb(sum) - 23);
}

struct Problem {
  std::int64_t features = 0;
  std::vector<double> samples;    // n x d
  std::vector<double> centroids;  // k x d
};

// A screen of a problem on the host.
class HostScreen {
 public:
  HostScreen(const Problem& problem, bool tensor_cores)
      : problem_(problem), d_(problem.features), tensor_cores_(tensor_cores) {
    std::vector<lloyd::FeatureStatistics> statistics(static_cast<std::size_t>(d_));
    const std::int64_t n = std::ssize(problem.samples) / d_;
    for (std::int64_t j = 0; j < d_; ++j) {
      lloyd::FeatureStatistics& feature = statistics[static_cast<std::size_t>(j)];
      feature = {HUGE_VAL, -HUGE_VAL, 0, 0, 0, 0};
      for (std::int64_t i = 0; i < n; ++i) {
        const double x = problem.samples[static_cast<std::size_t>(i * d_ + j)];
        feature.minimum = std::min(feature.minimum, x);
        feature.maximum = std::max(feature.maximum, x);
        feature.mean += x / static_cast<double>(n);
      }
    }
    lloyd::DatasetView view;
    view.features = d_;
    view.statistics = statistics.data();
    units_ = choose_units(view);
    for (std::int64_t c = 0; c < clusters(); ++c) add_centroid(c);
  }

  std::int64_t clusters() const { return std::ssize(problem_.centroids) / d_; }

  struct Scores {
    std::vector<double> computed;
    std::vector<long double> exact;
    std::vector<float> distances;  // of the centroids from the sample, rounded up
    ScreenError error;
  };
  bool is_far(std::int64_t c) const { return far_[static_cast<std::size_t>(c)]; }
  // The bound for all samples; infinite if a centroid is far.
  float error_of_all() const {
    if (norms_.has_far != 0) return HUGE_VALF;
    double largest = 0;
    for (std::int64_t c = 0; c < clusters(); ++c) {
      double squared = 0;
      for (std::int64_t j = 0; j < d_; ++j) {
        squared += std::pow(exact_[static_cast<std::size_t>(c * d_ + j)], 2);
      }
      largest = std::max(largest, std::sqrt(squared));
    }
    return ScreenError::of_values(round_up(units_.largest_norm), norms_, d_)
        .for_centroids(round_up(largest));
  }
  Scores scores_of(std::int64_t sample) const {
    Scores scores;
    std::vector<double> y;
    std::vector<double> rounded;
    long double squared = 0, squared_rounded = 0, squared_residual = 0;
    for (std::int64_t j = 0; j < d_; ++j) {
      y.push_back(in_units(problem_.samples[static_cast<std::size_t>(sample * d_ + j)], j));
      rounded.push_back(tensor_cores_ ? to_half(y.back())
                                      : static_cast<double>(static_cast<float>(y.back())));
      squared += static_cast<long double>(y.back()) * y.back();
      squared_rounded += static_cast<long double>(rounded.back()) * rounded.back();
      squared_residual += std::pow(static_cast<long double>(y.back()) - rounded.back(), 2.0L);
    }
    for (std::int64_t c = 0; c < clusters(); ++c) {
      const double* const e = exact_.data() + c * d_;
      long double product = 0;
      long double bias = 0;
      long double squared_distance = 0;
      for (std::int64_t j = 0; j < d_; ++j) {
        const auto value = static_cast<long double>(y[static_cast<std::size_t>(j)]);
        product += value * e[j];
        bias += static_cast<long double>(e[j]) * e[j];
        squared_distance += (value - e[j]) * (value - e[j]);
      }
      scores.distances.push_back(round_up(std::sqrt(squared_distance)));
      // The bias of the sample is the same in all scores, and absent from the direct screen's.
      const long double own = tensor_cores_ ? stored_bias(static_cast<double>(squared)) : 0;
      scores.exact.push_back(bias + own - 2 * product);
      scores.computed.push_back(tensor_cores_
                                    ? tensor_score(c, rounded, static_cast<double>(squared))
                                    : direct_score(c, rounded));
    }
    scores.error = tensor_cores_ ? ScreenError::of_image(round_up(std::sqrt(squared_rounded)),
                                                         round_up(std::sqrt(squared_residual)),
                                                         norms_, steps_for(d_))
                                 : ScreenError::of_values(round_up(std::sqrt(squared)), norms_, d_);
    return scores;
  }

 private:
  static float round_up(long double value) {
    return std::nextafter(static_cast<float>(value), HUGE_VALF);
  }
  double in_units(double value, std::int64_t j) const {
    return (value - units_.origin[static_cast<std::size_t>(j)]) * units_.scale;
  }
  // The sum of the three halves of a bias.
  static double stored_bias(double bias) {
    double rest = bias / kBiasUnit;
    double sum = 0;
    for (int part = 0; part < 3; ++part) {
      const double half = to_clamped_half(rest);
      sum += half;
      rest -= half;
    }
    return sum * kBiasUnit;
  }

  // As in converted_centroids.cu, with mu = 0.
  void add_centroid(std::int64_t c) {
    long double squared = 0, squared_rounded = 0, squared_residual = 0;
    const double limit = tensor_cores_ ? kMaxHalf / 2 : 1e15;
    bool is_far = false;
    for (std::int64_t j = 0; j < d_; ++j) {
      const double value = in_units(problem_.centroids[static_cast<std::size_t>(c * d_ + j)], j);
      const double clamped = std::clamp(value, -limit, limit);
      const double rounded = tensor_cores_ ? to_half(-2 * clamped) / -2
                                           : static_cast<double>(static_cast<float>(clamped));
      is_far |= clamped != value;
      exact_.push_back(value);
      rounded_.push_back(rounded);
      squared += static_cast<long double>(value) * value;
      squared_rounded += static_cast<long double>(rounded) * rounded;
      squared_residual += std::pow(static_cast<long double>(value) - rounded, 2.0L);
    }
    const auto bias = static_cast<double>(is_far ? squared_rounded : squared);
    biases_.push_back(bias);
    if (tensor_cores_) is_far |= !(bias < static_cast<double>(kMinPaddingScore));
    far_.push_back(is_far);
    if (is_far) {
      norms_.has_far = 1;
      return;
    }
    const long double nu0 =
        tensor_cores_ ? std::sqrt(static_cast<long double>(steps_for(d_))) * 0x1p-24L : 0x1p-140L;
    const long double nu = std::sqrt(squared_residual);
    if (nu > nu0) {
      norms_.residual_ratio =
          std::max(norms_.residual_ratio, round_up((nu - nu0) / std::sqrt(squared)));
    }
    const double residual = tensor_cores_ ? std::abs(bias - stored_bias(bias)) : 0;
    norms_.bias_residual = std::max(norms_.bias_residual, round_up(residual + units_.underflow));
  }

  double tensor_score(std::int64_t c, const std::vector<double>& y, double squared_norm) const {
    double products[kStepFeatures] = {};
    // The parts of a bias are separate addends.
    const auto add_bias = [&](double bias, int first) {
      double rest = bias / kBiasUnit;
      for (int part = 0; part < 3; ++part) {
        const double half = to_clamped_half(rest);
        products[first + part] = half * kBiasUnit;
        rest -= half;
      }
    };
    add_bias(biases_[static_cast<std::size_t>(c)], 0);
    add_bias(squared_norm, 3);
    double score = add_step(0, products);
    for (std::int64_t j = 0; j < d_; j += kStepFeatures) {
      for (std::int64_t i = 0; i < kStepFeatures; ++i) {
        products[i] = j + i < d_ ? -2 * rounded_[static_cast<std::size_t>(c * d_ + j + i)] *
                                       y[static_cast<std::size_t>(j + i)]
                                 : 0;
      }
      score = add_step(score, products);
    }
    return score;
  }

  double direct_score(std::int64_t c, const std::vector<double>& y) const {
    auto score = static_cast<float>(biases_[static_cast<std::size_t>(c)]);
    for (std::int64_t j = 0; j < d_; ++j) {
      score = std::fma(static_cast<float>(-2 * rounded_[static_cast<std::size_t>(c * d_ + j)]),
                       static_cast<float>(y[static_cast<std::size_t>(j)]), score);
    }
    return static_cast<double>(score);
  }

  const Problem& problem_;
  std::int64_t d_;
  bool tensor_cores_;
  ScreenUnits units_;
  std::vector<double> exact_, rounded_, biases_;
  std::vector<bool> far_;
  CentroidNorms norms_;
};

// The centroid of the definition.
std::int64_t nearest(const Problem& problem, std::int64_t sample) {
  const std::int64_t d = problem.features;
  std::int64_t best = -1;
  double lowest = 0;
  for (std::int64_t c = 0; c < std::ssize(problem.centroids) / d; ++c) {
    double sum = 0;
    for (std::int64_t j = 0; j < d; ++j) {
      const double difference = problem.samples[static_cast<std::size_t>(sample * d + j)] -
                                problem.centroids[static_cast<std::size_t>(c * d + j)];
      sum += difference * difference;
    }
    if (best < 0 || sum < lowest) {
      best = c;
      lowest = sum;
    }
  }
  return best;
}

// Checks the bound, the proofs and the candidates of all samples. Returns how many labels are
// proven, by proves_label() or by proves_label_by_one_bound().
std::int64_t count_proven(const Problem& problem, bool tensor_cores, bool by_one_bound = false) {
  const HostScreen screen(problem, tensor_cores);
  const std::int64_t n = std::ssize(problem.samples) / problem.features;
  const float of_all = screen.error_of_all();
  std::int64_t proven = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const HostScreen::Scores scores = screen.scores_of(i);
    const std::int64_t label = nearest(problem, i);
    std::vector<double> sorted = scores.computed;
    for (std::size_t c = 0; c < sorted.size(); ++c) {
      SCOPED_TRACE("sample " + std::to_string(i) + ", centroid " + std::to_string(c));
      const double difference = scores.computed[c] - static_cast<double>(scores.exact[c]);
      const auto computed = static_cast<float>(scores.computed[c]);
      EXPECT_FALSE(difference > static_cast<double>(scores.error.below(computed)));
      if (screen.is_far(static_cast<std::int64_t>(c))) continue;
      EXPECT_FALSE(-difference > static_cast<double>(scores.error.above(computed)));
      EXPECT_FALSE(std::abs(difference) >
                   static_cast<double>(scores.error.at(scores.distances[c])));
      EXPECT_FALSE(!tensor_cores && std::abs(difference) > static_cast<double>(of_all));
    }
    const auto best = std::min_element(scores.computed.begin(), scores.computed.end());
    if (screen.is_far(best - scores.computed.begin())) continue;
    const auto at_label = scores.computed[static_cast<std::size_t>(label)];
    EXPECT_FALSE(at_label >
                 static_cast<double>(candidate_limit(static_cast<float>(*best), scores.error)))
        << "sample " << i << ": its label is not a candidate";
    if (sorted.size() < 2) continue;
    std::nth_element(sorted.begin(), sorted.begin() + 1, sorted.end());
    const auto lowest = static_cast<float>(*best);
    const auto second = static_cast<float>(sorted[1]);
    const bool is_proven = proves_label(lowest, second, scores.error);
    const bool is_proven_by_one_bound = proves_label_by_one_bound(lowest, second, scores.error);
    if (is_proven || is_proven_by_one_bound) {
      EXPECT_EQ(best - scores.computed.begin(), label) << "sample " << i;
    }
    if (by_one_bound ? is_proven_by_one_bound : is_proven) ++proven;
  }
  return proven;
}

Problem random_problem(std::int64_t samples, std::int64_t features, std::int64_t clusters,
                       unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> center(-10, 10);
  std::normal_distribution<double> noise;
  Problem problem;
  problem.features = features;
  for (std::int64_t i = 0; i < clusters * features; ++i)
    problem.centroids.push_back(center(random));
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t c = static_cast<std::int64_t>(random()) % clusters;
    for (std::int64_t j = 0; j < features; ++j) {
      const double mean = problem.centroids[static_cast<std::size_t>(c * features + j)];
      problem.samples.push_back(static_cast<double>(static_cast<float>(mean + noise(random))));
    }
  }
  return problem;
}

void expect_bound_holds(const Problem& problem, const std::string& name) {
  SCOPED_TRACE(name);
  for (const bool tensor_cores : {true, false}) {
    SCOPED_TRACE(tensor_cores ? "tensor cores" : "float32");
    count_proven(problem, tensor_cores);
  }
}

TEST(FastErrorBound, ProvesNearlyAllLabelsOfSeparateClusters) {
  for (const std::int64_t features : {9, 16, 33, 128, 200}) {
    const Problem problem = random_problem(200, features, 30, 1);
    EXPECT_GE(count_proven(problem, true), 190) << features << " features";
    EXPECT_GE(count_proven(problem, true, true), count_proven(problem, true));
    EXPECT_GE(count_proven(problem, false), 199) << features << " features";
  }
}

// Scores in float32 have no index in their low bits, so that they tell centroids apart that differ
// by 2^-16 of the range of the data.
TEST(FastErrorBound, Float32ProvesWhatFP16CannotTellApart) {
  Problem problem = random_problem(200, 2, 2, 11);
  for (std::size_t c = 0; c < 2; ++c) {
    problem.centroids.push_back(problem.centroids[2 * c] + 3e-4);
    problem.centroids.push_back(problem.centroids[2 * c + 1]);
  }
  EXPECT_GE(count_proven(problem, false), 150);
  EXPECT_LT(count_proven(problem, true), 100);
}

TEST(FastErrorBound, HoldsForNearTies) {
  for (const std::int64_t features : {1, 2, 16, 17, 100}) {
    Problem problem = random_problem(100, features, 8, 2);
    // Pairs of centroids that differ in the last bits of one feature.
    const std::vector<double> half = problem.centroids;
    for (std::size_t i = 0; i < half.size(); ++i) {
      const bool moved = i % static_cast<std::size_t>(features) == 0;
      problem.centroids.push_back(moved ? half[i] * (1 + 0x1p-50) : half[i]);
    }
    expect_bound_holds(problem, std::to_string(features) + " features");
  }
}

// All values are exact in FP16, and all products but one are just below the last bit that tensor
// cores keep beside the largest addend.
TEST(FastErrorBound, HoldsForProductsThatAreCutOff) {
  Problem problem;
  problem.features = 256;
  for (const double sign : {1.0, -1.0}) {
    for (std::int64_t j = 0; j < problem.features; ++j) {
      problem.samples.push_back(sign * (j == 0 ? 1 : 0x1.6p-12));
    }
  }
  problem.centroids = problem.samples;
  expect_bound_holds(problem, "products that are cut off");
}

TEST(FastErrorBound, HoldsFarFromTheOrigin) {
  Problem problem = random_problem(100, 20, 10, 3);
  for (double& value : problem.samples)
    value = static_cast<double>(static_cast<float>(value + 1e6));
  for (double& value : problem.centroids) value += 1e6;
  expect_bound_holds(problem, "offset");
}

TEST(FastErrorBound, HoldsForDenormalValues) {
  Problem problem = random_problem(100, 20, 10, 4);
  for (double& value : problem.samples) value *= 1e-310;
  for (double& value : problem.centroids) value *= 1e-310;
  expect_bound_holds(problem, "denormal");
}

TEST(FastErrorBound, HoldsForHugeValues) {
  Problem problem = random_problem(100, 20, 10, 5);
  for (double& value : problem.samples) value *= 1e100;
  for (double& value : problem.centroids) value *= 1e100;
  expect_bound_holds(problem, "huge");
}

TEST(FastErrorBound, HoldsForFeaturesOfVeryDifferentScale) {
  Problem problem = random_problem(100, 20, 10, 6);
  for (std::size_t i = 0; i < problem.samples.size(); i += 20) problem.samples[i] *= 1e4;
  for (std::size_t i = 0; i < problem.centroids.size(); i += 20) problem.centroids[i] *= 1e4;
  expect_bound_holds(problem, "one wide feature");
}

TEST(FastErrorBound, HoldsForCentroidsFarFromTheSamples) {
  for (const double factor : {1e2, 1e4, 1e8, 1e20, 1e200}) {
    Problem problem = random_problem(50, 20, 10, 7);
    for (std::size_t j = 0; j < 20; ++j) problem.centroids[j] *= factor;
    expect_bound_holds(problem, std::to_string(factor));
  }
}

TEST(FastErrorBound, HoldsForEqualSamples) {
  Problem problem = random_problem(50, 20, 10, 8);
  for (std::size_t i = 20; i < problem.samples.size(); ++i) {
    problem.samples[i] = problem.samples[i - 20];
  }
  expect_bound_holds(problem, "equal samples");
}

TEST(FastErrorBound, HoldsForManyFeatures) {
  expect_bound_holds(random_problem(10, 5000, 5, 9), "5000 features");
}

TEST(FastErrorBound, FarCentroidsDoNotKeepOtherLabelsFromBeingProven) {
  for (const double factor : {10.0, 1e3, 1e6, 1e30}) {
    Problem problem = random_problem(200, 33, 30, 10);
    for (std::size_t j = 0; j < 33; ++j) problem.centroids[j] *= factor;
    EXPECT_GE(count_proven(problem, true), 180) << factor;
    EXPECT_GE(count_proven(problem, true, true), count_proven(problem, true)) << factor;
    EXPECT_GE(count_proven(problem, false), 190) << factor;
  }
}

TEST(FastErrorBound, OneBoundForAllSamplesProvesNearlyAllLabels) {
  const Problem problem = random_problem(2000, 4, 32, 11);
  const HostScreen screen(problem, false);
  const double limit = 2 * static_cast<double>(screen.error_of_all());
  std::int64_t proven = 0;
  for (std::int64_t i = 0; i < 2000; ++i) {
    std::vector<double> sorted = screen.scores_of(i).computed;
    std::nth_element(sorted.begin(), sorted.begin() + 1, sorted.end());
    if (sorted[1] - *std::min_element(sorted.begin(), sorted.end()) > limit) ++proven;
  }
  EXPECT_GE(proven, 1980);
}

TEST(FastErrorBound, ProvesNothingIfANormIsNotFinite) {
  CentroidNorms norms;
  norms.residual_ratio = HUGE_VALF;
  const ScreenError image = ScreenError::of_image(1, 0, norms, 2);
  EXPECT_FALSE(proves_label(1, 2, image));
  EXPECT_FALSE(proves_label_by_one_bound(1, 2, image));
  EXPECT_FALSE(proves_label(1, 2, ScreenError::of_values(1, norms, 2)));
  EXPECT_FALSE(1e30F > candidate_limit(1, image));
}

}  // namespace
}  // namespace lloyd_cuda_fast
