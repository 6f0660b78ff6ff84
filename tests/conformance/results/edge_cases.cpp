// Extreme values of n, d and k, and data with few distinct points.
#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"

namespace lloyd::conformance {
namespace {

Setting edge_setting(const Samples& samples, std::int64_t k) {
  Setting setting;
  setting.clusters = k;
  setting.centroids = first_rows(samples, k);
  setting.empty = EmptyClusters::relocate;
  return setting;
}

NamedFit fit_of(const char* name, const Samples& samples, std::int64_t k) {
  return {name, samples, edge_setting(samples, k)};
}

void one_cluster(const Context& context) {
  const Samples samples = rounded(cloud(777, 3, 21), context.dtype());
  verify_fits(context, {fit_of("one cluster", samples, 1)});
}

void clusters_equal_samples(const Context& context) {
  const Samples samples = rounded(cloud(100, 3, 22), context.dtype());
  Trial trial;
  if (!verify_fit(context, "k = n", samples, edge_setting(samples, 100), {}, &trial)) {
    throw CaseSkipped{"the backend does not support the fit: " + context.refusal()};
  }
  // Every sample is its own centroid.
  expect(trial.result.inertia == 0, "k = n: the inertia is {}, expected 0", trial.result.inertia);
  for (std::int64_t i = 0; i < samples.n; ++i) {
    expect(trial.labels[i] == i, "k = n: the label of row {} is {}", i, trial.labels[i]);
  }
}

void one_sample(const Context& context) {
  for (const std::int64_t d : {1, 4, 9}) {
    const Samples samples = rounded(cloud(1, d, 23), context.dtype());
    verify_fits(context, {fit_of("one sample", samples, 1)});
  }
}

void one_feature(const Context& context) {
  const Samples samples = rounded(cloud(1500, 1, 24), context.dtype());
  verify_fits(context, {fit_of("one feature", samples, 9)});
}

// 20 points, 50 times each, shuffled; initial centroids repeat as well. The points are integers, so
// means of equal points are exact and the inertia is free of rounding.
void duplicates(const Context& context) {
  const Samples points = lattice(20, 3, 9, 25);
  Numbers numbers(26);
  std::vector<std::int64_t> rows;
  for (int i = 0; i < 1000; ++i) rows.push_back(numbers.integer(0, 19));
  const Samples samples = selected(points, rows);
  verify_fits(context,
              {fit_of("duplicates", samples, 6), fit_of("duplicate centroids", samples, 30)});
}

// A single distinct point: all distances are 0, so nothing may be relocated.
void constant(const Context& context) {
  std::vector<NamedFit> fits;
  std::vector<double> values{1.5, 0.0, -3e5};
  // The mean of many copies of 0.1 is rounded; only exact labels distinguish it from 0.1.
  if (context.exact()) values.push_back(0.1);
  for (const double value : values) {
    Samples samples{60, 2, std::vector<double>(120, value)};
    samples = rounded(samples, context.dtype());
    fits.push_back(fit_of("constant", samples, 1));
    fits.push_back(fit_of("constant", samples, 4));
  }
  verify_fits(context, fits);
}

// 3 distinct points and 8 clusters, under the policies `relocate` and `keep`.
void more_clusters_than_points(const Context& context) {
  std::vector<std::int64_t> rows;
  for (int i = 0; i < 64; ++i) rows.push_back(i % 3);
  const Samples samples = selected(lattice(3, 2, 9, 27), rows);
  NamedFit relocated = fit_of("more clusters than points", samples, 8);
  NamedFit kept = relocated;
  kept.setting.empty = EmptyClusters::keep;
  verify_fits(context, {relocated, kept});
}

}  // namespace

void add_edge_cases(std::vector<Case>& cases) {
  cases.push_back({"edge/one-cluster", Scope::variants, one_cluster});
  cases.push_back({"edge/clusters-equal-samples", Scope::variants, clusters_equal_samples});
  cases.push_back({"edge/one-sample", Scope::variants, one_sample});
  cases.push_back({"edge/one-feature", Scope::variants, one_feature});
  cases.push_back({"edge/duplicates", Scope::variants, duplicates});
  cases.push_back({"edge/constant", Scope::variants, constant});
  cases.push_back({"edge/more-clusters-than-points", Scope::variants, more_clusters_than_points});
}

}  // namespace lloyd::conformance
