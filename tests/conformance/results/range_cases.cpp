// Numerical range: values far from the origin, huge, tiny, subnormal, and of very different
// magnitude.
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include <lloyd/plugin/sdk/float32_range.hpp>

#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"

namespace lloyd::conformance {
namespace {

Setting range_setting(const Samples& samples, std::int64_t k) {
  Setting setting;
  setting.clusters = k;
  setting.centroids = first_rows(samples, k);
  setting.empty = EmptyClusters::relocate;
  return setting;
}

Trial verified(const Context& context, const char* name, const Samples& samples,
               const Setting& setting) {
  Trial trial;
  if (!verify_fit(context, name, samples, setting, {}, &trial)) {
    throw CaseSkipped{"the backend does not support the fit: " + context.refusal()};
  }
  return trial;
}

// Mean 1e6, spread 1. Both data sets hold the same values up to the exact offset.
void far_offset(const Context& context) {
  constexpr double kOffset = 1e6;
  const Samples far =
      rounded(transformed(blobs(2000, 3, 6, 2.0, 31), 0.2, kOffset), context.dtype());
  const Samples centred = transformed(far, 1, -kOffset);
  const Trial there = verified(context, "mean 1e6, spread 1", far, range_setting(far, 6));
  const Trial here = verified(context, "the same, centred", centred, range_setting(centred, 6));
  expect(std::abs(there.result.inertia - here.result.inertia) <= 0.02 * here.result.inertia,
         "the final inertia is {} with mean 1e6, and {} for the same data centred: more than 2 % "
         "apart",
         there.result.inertia, here.result.inertia);
}

// Data on a grid of 1/16 is shifted by 1e6 without rounding. Only the rounding of means
// distinguishes the two fits, so the labels of all iterations are equal.
void shifted_grid(const Context& context) {
  if (!context.exact()) throw CaseSkipped{"labels are not exact"};
  Samples grid = cloud(4000, 3, 40);
  for (double& value : grid.values) value = std::round(value * 16) / 16;
  const Samples shifted = transformed(grid, 1, 1e6);
  const Setting setting = range_setting(grid, 9);
  const Trial here = verified(context, "data on a grid", grid, setting);
  const Trial there =
      verified(context, "the same moved by 1e6", shifted, range_setting(shifted, 9));
  expect(here.trace.size() >= 10, "the case's own data: only {} iterations", here.trace.size());
  expect(here.trace.size() == there.trace.size(), "{} iterations on the grid, {} moved by 1e6",
         here.trace.size(), there.trace.size());
  for (std::size_t at = 0; at < here.trace.size(); ++at) {
    expect_same_labels(fmt::format("moved by 1e6, iteration {}", at + 1), here.trace[at].labels,
                       there.trace[at].labels);
  }
  expect_same_labels("moved by 1e6", here.labels, there.labels);
}

// Offsets of a few diagonals of the data, which begin to affect float32 arithmetic.
void moderate_offset(const Context& context) {
  const Samples centred = blobs(2000, 1, 7, 3.0, 39);
  for (const double offset : {20.0, 80.0, 150.0, 300.0}) {
    const Samples samples = rounded(transformed(centred, 1, offset), context.dtype());
    verified(context, "an offset of a few diagonals", samples, range_setting(samples, 7));
  }
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Float32Range accepts these data, since one sample at the origin widens their range. But the norm
// of each centroid is thousands of times its distance to its samples, and rounding it to float32
// changes these distances by more than they differ: each sample is on the bisector of two centroids
// up to 2^-15 of their distance, or its own rounding. The error bound of a screen in float32 must
// depend on |c| |x-c|, not only on |x-c|^2.
NamedFit float32_near_ties(std::int64_t d, DType dtype) {
  constexpr std::int64_t kPairs = 4;
  constexpr std::int64_t kSamplesPerPair = 40;
  constexpr double kOffset = 4000;
  Numbers numbers(41);
  Samples samples{1, d, std::vector<double>(d, 0.0)};
  Setting setting;
  setting.clusters = 2 * kPairs + 1;
  setting.max_iterations = 1;
  setting.fixed = true;
  for (std::int64_t pair = 0; pair < kPairs; ++pair) {
    std::vector<double> middle;
    std::vector<double> half;  // from the middle to the second centroid
    for (std::int64_t j = 0; j < d; ++j) {
      middle.push_back(kOffset + 50 * static_cast<double>(pair) + numbers.uniform());
      half.push_back(numbers.uniform() - 0.5);
    }
    for (const double side : {-1.0, 1.0}) {
      for (std::int64_t j = 0; j < d; ++j) setting.centroids.push_back(middle[j] + side * half[j]);
    }
    for (std::int64_t i = 0; i < kSamplesPerPair; ++i) {
      std::vector<double> away;  // from the middle, then along the bisector
      for (std::int64_t j = 0; j < d; ++j) away.push_back(numbers.uniform() - 0.5);
      const double across = product(away, half) / product(half, half);
      const double part = (numbers.uniform() - 0.5) * 0x1p-14 - across;
      for (std::int64_t j = 0; j < d; ++j) {
        samples.values.push_back(middle[j] + away[j] + part * half[j]);
      }
      ++samples.n;
    }
  }
  setting.centroids.insert(setting.centroids.end(), d, 0.0);  // of the sample at the origin
  return {"near ties of float32", rounded(std::move(samples), dtype), std::move(setting)};
}

void near_ties_of_float32(const Context& context) {
  std::vector<NamedFit> fits;
  for (const std::int64_t d : {2, 5, 33}) {
    fits.push_back(float32_near_ties(d, context.dtype()));
    const NamedFit& fit = fits.back();
    const Dataset dataset = make_dataset(fit.samples, context.dtype());
    expect(Float32Range(dataset.view()).covers(fit.setting.centroids.data(), fit.setting.clusters),
           "the case's own data exceed the range of float32: d={}", d);
  }
  verify_fits(context, fits);
}

// Blobs scaled to the range limits of float64 squares.
void scaled(const Context& context, const char* name, double scale) {
  const Samples samples =
      rounded(transformed(blobs(900, 3, 6, 1.5, 32), scale, 0), context.dtype());
  verified(context, name, samples, range_setting(samples, 6));
}

void huge(const Context& context) {
  scaled(context, "values of 1e30", 1e29);
  if (context.dtype() == DType::float64) scaled(context, "values of 1e140", 1e139);
}

void tiny(const Context& context) {
  scaled(context, "values of 1e-30", 1e-31);
  if (context.dtype() == DType::float32) return;
  scaled(context, "values of 1e-140", 1e-141);
  // Squares underflow to 0: all samples tie, and the first cluster takes them all.
  scaled(context, "values of 1e-200", 1e-201);
}

// Subnormals alone, and beside ordinary values.
void denormals(const Context& context) {
  const double least = context.dtype() == DType::float32 ? 0x1p-149 : 0x1p-1074;
  const Samples small = transformed(lattice(400, 2, 1000, 33), least, 0);
  verified(context, "denormals", small, range_setting(small, 5));

  Samples mixed = lattice(400, 2, 20, 34);
  for (std::int64_t i = 0; i < mixed.n; ++i) mixed.values[2 * i] *= least;
  verified(context, "denormals beside integers", mixed, range_setting(mixed, 5));
}

// One sample of 1e30 among samples near one: it must not affect the means of other clusters.
void outlier(const Context& context) {
  Samples samples = rounded(cloud(500, 2, 35), context.dtype());
  samples.values[2 * 250] = static_cast<float>(1e30);
  Setting own = range_setting(samples, 4);
  own.centroids.insert(own.centroids.end(), samples.row(250), samples.row(250) + 2);
  own.clusters = 5;
  verified(context, "an outlier with its own cluster", samples, own);

  // The outlier first belongs to a cluster of ones, and is relocated later.
  Setting shared = range_setting(samples, 4);
  shared.centroids.insert(shared.centroids.end(), {-1000.0, -1000.0});
  shared.clusters = 5;
  verified(context, "an outlier that is relocated", samples, shared);
}

// Initial centroids so far away that float32 cannot tell their distances apart.
void remote_centroids(const Context& context) {
  const Samples samples = rounded(cloud(300, 2, 42), context.dtype());
  Setting remote = range_setting(samples, 2);
  // All samples are nearest to the second, also if each coordinate were clamped to 1e12 or less
  // the first would seem to be.
  remote.centroids = {1e14, 0, 2e12, 2e12};
  NamedFit ties = float32_near_ties(2, context.dtype());
  ties.name = "near ties, and a centroid at 1e30";
  ties.setting.centroids.insert(ties.setting.centroids.end(), 2, 1e30);
  ++ties.setting.clusters;
  ties.setting.empty = EmptyClusters::keep;
  verify_fits(context, {{"all centroids beyond 1e12", samples, remote}, ties});
}

// float32 sums stall at 2^24 and lose digits much earlier.
void large_mean(const Context& context) {
  Samples samples{50000, 1, {}};
  Numbers numbers(36);
  for (std::int64_t i = 0; i < samples.n; ++i) {
    samples.values.push_back(1000.0 + numbers.uniform());
  }
  samples = rounded(samples, context.dtype());
  Setting setting = range_setting(samples, 2);
  setting.max_iterations = 3;
  verified(context, "50000 values near 1000", samples, setting);
}

// Features whose units differ by 16 orders of magnitude: each has its own accuracy.
void mixed_units(const Context& context) {
  Samples samples = blobs(800, 4, 5, 1.0, 37);
  for (std::int64_t i = 0; i < samples.n; ++i) {
    samples.values[4 * i + 1] *= 1e-8;
    samples.values[4 * i + 2] *= 1e8;
  }
  samples = rounded(samples, context.dtype());
  verified(context, "mixed units", samples, range_setting(samples, 5));
}

// Values over so many powers of two that a sum needs two 64-bit words, and values that exceed two
// limbs.
void many_magnitudes(const Context& context) {
  const double reach = context.dtype() == DType::float32 ? 1e12 : 1e8;
  const Samples samples = rounded(wide_range(900, 2, reach, 38), context.dtype());
  verified(context, "many magnitudes", samples, range_setting(samples, 5));
}

}  // namespace

void add_range_cases(std::vector<Case>& cases) {
  cases.push_back({"range/far-offset", Scope::variants, far_offset});
  cases.push_back({"range/shifted-grid", Scope::variants, shifted_grid});
  cases.push_back({"range/moderate-offset", Scope::variants, moderate_offset});
  cases.push_back({"range/near-ties", Scope::variants, near_ties_of_float32});
  cases.push_back({"range/huge", Scope::variants, huge});
  cases.push_back({"range/tiny", Scope::variants, tiny});
  cases.push_back({"range/denormals", Scope::variants, denormals});
  cases.push_back({"range/outlier", Scope::variants, outlier});
  cases.push_back({"range/remote-centroids", Scope::variants, remote_centroids});
  cases.push_back({"range/large-mean", Scope::variants, large_mean});
  cases.push_back({"range/many-magnitudes", Scope::variants, many_magnitudes});
  cases.push_back({"range/mixed-units", Scope::variants, mixed_units});
}

}  // namespace lloyd::conformance
