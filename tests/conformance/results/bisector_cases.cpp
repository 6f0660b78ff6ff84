// Samples on the bisector of two moving centroids, or within a few units in the last place of it.
// Data and centroids are on one line, where the triangle inequality is tight: the only slack of
// bounds that are carried from one iteration to the next is their margin for rounding. These cases
// are meant to fail every backend that prunes by bounds without such a margin.
#include <algorithm>
#include <cmath>

#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"

namespace lloyd::conformance {
namespace {

constexpr std::int64_t kDimensions[] = {2, 5, 16, 33};
// The probes of a bisector have offsets of -kMaxOffset to kMaxOffset units in the last place of one
// feature.
constexpr int kMaxOffset = 3;
constexpr std::int64_t kProbes = 2 * kMaxOffset + 1;

void append(std::vector<double>& rows, const std::vector<double>& direction, double position) {
  for (const double value : direction) rows.push_back(position * value);
}

double moved_by_units(double x, int units, DType dtype) {
  const double end = units < 0 ? -kInfinity : kInfinity;
  for (int step = 0; step < std::abs(units); ++step) {
    x = dtype == DType::float32 ? std::nextafter(static_cast<float>(x), static_cast<float>(end))
                                : std::nextafter(x, end);
  }
  return x;
}

// Writes kProbes rows: `middle`, rounded, with one feature moved by each of the offsets.
void set_probes(double* rows, const std::vector<double>& middle, std::int64_t feature,
                DType dtype) {
  for (int offset = -kMaxOffset; offset <= kMaxOffset; ++offset) {
    for (const double value : middle) {
      *rows++ = dtype == DType::float32 ? static_cast<float>(value) : value;
    }
    double& moved = rows[feature - static_cast<std::int64_t>(middle.size())];
    moved = moved_by_units(moved, offset, dtype);
  }
}

std::int64_t largest_feature(const std::vector<double>& direction) {
  return std::max_element(direction.begin(), direction.end()) - direction.begin();
}

// Two clusters on a line of integer points. The probes belong to `leaving` in the first iteration.
// In the second they are exactly in the middle between the centroids, because positions and means
// are integers. The tie goes to the lower index.
void add_tie(std::vector<NamedFit>& fits, Numbers& numbers, std::int64_t d, bool tie_moves,
             std::int64_t others, DType dtype) {
  std::vector<double> direction;
  for (std::int64_t j = 0; j < d; ++j) {
    direction.push_back(static_cast<double>(numbers.integer(1, 9)));
  }
  const auto middle = static_cast<double>(numbers.integer(-500, 500));
  const auto half = static_cast<double>(numbers.integer(40, 900));
  const auto leaving_drift = static_cast<double>(numbers.integer(1, 20));
  const auto nearing_drift = leaving_drift + static_cast<double>(numbers.integer(0, 20));
  Samples samples{0, d, {}};
  samples.values.resize(kProbes * d);
  std::vector<double> tie;
  append(tie, direction, middle);
  set_probes(samples.values.data(), tie, largest_feature(direction), dtype);
  // As many samples on the other side, so that the mean is `half` away from the probes.
  for (std::int64_t i = 0; i < kProbes; ++i) {
    append(samples.values, direction, middle - 2 * half);
  }
  for (std::int64_t i = 0; i < 3; ++i) append(samples.values, direction, middle + half);
  std::vector<double> leaving;
  std::vector<double> nearing;
  append(leaving, direction, middle - half + leaving_drift);
  append(nearing, direction, middle + half + nearing_drift);
  Setting setting;
  setting.max_iterations = 6;
  setting.centroids = tie_moves ? nearing : leaving;
  const std::vector<double>& second = tie_moves ? leaving : nearing;
  setting.centroids.insert(setting.centroids.end(), second.begin(), second.end());
  // Clusters of one sample, which do not move.
  for (std::int64_t c = 0; c < others; ++c) {
    append(samples.values, direction, middle + half * static_cast<double>(20 + 4 * c));
    append(setting.centroids, direction, middle + half * static_cast<double>(20 + 4 * c));
  }
  samples.n = static_cast<std::int64_t>(samples.values.size()) / d;
  setting.clusters = 2 + others;
  setting.empty = EmptyClusters::relocate;
  fits.push_back({"ties of the second iteration", rounded(std::move(samples), dtype), setting});
}

void ties(const Context& context) {
  std::vector<NamedFit> fits;
  Numbers numbers(61);
  for (const std::int64_t d : kDimensions) {
    for (int repeat = 0; repeat < 40; ++repeat) {
      add_tie(fits, numbers, d, repeat % 4 != 0, repeat % 3 == 0 ? 18 : 0, context.dtype());
    }
  }
  verify_fits(context, fits);
}

// Moves the probes to the bisectors of an iteration (>= 2). Probes contribute to the means, which
// follow them by a small fraction, so this is repeated until the probes stay in place.
void place_probes(Samples& samples, const Setting& setting, std::int64_t iteration,
                  std::int64_t feature, DType dtype) {
  constexpr int kMaxRepeats = 30;
  const std::int64_t d = samples.d;
  reference::Settings settings;
  settings.k = setting.clusters;
  settings.initial_centroids = setting.centroids;
  settings.max_iterations = iteration - 1;
  settings.fixed = true;
  for (int repeat = 0; repeat < kMaxRepeats; ++repeat) {
    const std::vector<double> former = samples.values;
    const std::vector<double> centroids = reference::fit(samples, settings).trace.back().centroids;
    for (std::int64_t c = 0; c + 1 < setting.clusters; ++c) {
      std::vector<double> middle;
      for (std::int64_t j = 0; j < d; ++j) {
        middle.push_back((centroids[c * d + j] + centroids[(c + 1) * d + j]) / 2);
      }
      set_probes(samples.values.data() + c * kProbes * d, middle, feature, dtype);
    }
    if (samples.values == former) return;
  }
}

std::vector<NamedFit> drift_fits(DType dtype) {
  std::vector<NamedFit> fits;
  Numbers numbers(62);
  for (const std::int64_t d : kDimensions) {
    for (const std::int64_t iteration : {2, 2, 3, 3, 4, 5, 6, 7}) {
      std::vector<double> direction;
      for (std::int64_t j = 0; j < d; ++j) direction.push_back(1 + numbers.uniform());
      const std::int64_t k = numbers.integer(2, 4);
      Samples samples{0, d, {}};
      samples.values.resize((k - 1) * kProbes * d);
      // The density decreases with the position, and the centroids begin at its lower end: all of
      // them move up.
      for (std::int64_t i = 0; i < 150; ++i) {
        append(samples.values, direction, std::pow(numbers.uniform(), 2));
      }
      samples.n = static_cast<std::int64_t>(samples.values.size()) / d;
      samples = rounded(std::move(samples), dtype);
      Setting setting;
      setting.clusters = k;
      setting.empty = EmptyClusters::relocate;
      setting.max_iterations = iteration + 2;
      for (std::int64_t c = 0; c < k; ++c) {
        append(setting.centroids, direction, 0.02 * static_cast<double>(c));
      }
      place_probes(samples, setting, iteration, largest_feature(direction), dtype);
      fits.push_back({"near a bisector", std::move(samples), setting});
    }
  }
  return fits;
}

void drift(const Context& context) {
  // Shared by all variants: the reference runs many fits to place the probes.
  static const std::vector<NamedFit> float32_fits = drift_fits(DType::float32);
  static const std::vector<NamedFit> float64_fits = drift_fits(DType::float64);
  verify_fits(context, context.dtype() == DType::float32 ? float32_fits : float64_fits);
}

// A parameter may set the margin of bounds, or how often they are renewed: the cases above with
// each numeric parameter at its minimum and at its maximum.
void parameter_ends(const Context& context) {
  const int ends = for_ends_of_parameters(context, [](const Context& end) {
    if (!accepts_parameters(end)) return;
    ties(end);
    drift(end);
  });
  if (ends == 0) throw CaseSkipped{"the backend has no integer or real parameter"};
}

}  // namespace

void add_bisector_cases(std::vector<Case>& cases) {
  cases.push_back({"bisector/ties", Scope::variants, ties});
  cases.push_back({"bisector/drift", Scope::variants, drift});
  cases.push_back({"bisector/parameters", Scope::defaults, parameter_ends});
}

}  // namespace lloyd::conformance
