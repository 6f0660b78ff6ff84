// partial(): one assignment over a range of rows, with the sums for an update.
#include <algorithm>
#include <bit>
#include <cmath>

#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"
#include "conformance/support/partial_trial.hpp"

namespace lloyd::conformance {
namespace {

constexpr std::int64_t kClusters = 6;

// Ordinary data, data whose sums need two words, and data without an integer form.
std::vector<Samples> data_sets(const Context& context) {
  const double reach = context.dtype() == DType::float32 ? 1e12 : 1e8;
  Samples outlier = rounded(cloud(700, 2, 81), context.dtype());
  outlier.values[333] = static_cast<float>(1e30);
  return {rounded(cloud(5003, 3, 82), context.dtype()), lattice(600, 5, 9, 83),
          rounded(wide_range(800, 2, reach, 86), context.dtype()), outlier};
}

// x / 2^exponent, which is an integer.
Wide multiples(double x, int exponent) {
  if (x == 0) return 0;
  int power = 0;
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &power), 53));
  const int shift = power - 53 - exponent;
  expect(shift <= 74, "partial() claims an integer form for data of a range that fits none");
  if (shift >= 0) return static_cast<Wide>(mantissa) * (static_cast<Wide>(1) << shift);
  return static_cast<Wide>(mantissa) / (static_cast<Wide>(1) << -shift);
}

void check_sums(const Context& context, const Samples& samples, const Dataset& dataset,
                const std::vector<std::int32_t>& labels, const Accumulated& got) {
  const std::int64_t d = samples.d;
  if (got.form == SumForm::compensated) {
    std::vector<double> centroids(kClusters * d, 0.0);
    for (std::int64_t at = 0; at < kClusters * d; ++at) {
      if (got.counts[at / d] == 0) continue;
      const double sum =
          std::bit_cast<double>(got.sums[at].low) + std::bit_cast<double>(got.sums[at].high);
      centroids[at] = sum / static_cast<double>(got.counts[at / d]);
    }
    check_means("compensated sums of partial()", samples, context.dtype(), labels, centroids);
    return;
  }
  std::vector<Wide> expected(kClusters * d, 0);
  for (std::int64_t i = 0; i < samples.n; ++i) {
    for (std::int64_t j = 0; j < d; ++j) {
      expected[labels[i] * d + j] +=
          multiples(samples.row(i)[j], dataset.statistics()[j].quantum_exponent);
    }
  }
  for (std::int64_t at = 0; at < kClusters * d; ++at) {
    expect(wide(got.sums[at]) == expected[at],
           "partial(): the sum of cluster {} feature {} is {} quanta, expected {}", at / d, at % d,
           static_cast<double>(wide(got.sums[at])), static_cast<double>(expected[at]));
  }
}

void check_farthest(const Samples& samples, const std::vector<double>& centroids,
                    const std::vector<std::int32_t>& labels, std::int64_t wanted,
                    const Accumulated& got) {
  Accumulated expected = got;
  expected.farthest.clear();
  for (std::int64_t i = 0; i < samples.n; ++i) {
    const double* c = centroids.data() + labels[i] * samples.d;
    const double distance = reference::squared_distance(samples.row(i), c, samples.d);
    if (distance > 0) expected.farthest.push_back({i, distance, labels[i], 0});
  }
  std::stable_sort(expected.farthest.begin(), expected.farthest.end(),
                   [](const FarSample& a, const FarSample& b) {
                     return a.squared_distance > b.squared_distance;
                   });
  if (static_cast<std::int64_t>(expected.farthest.size()) > wanted) {
    expected.farthest.resize(wanted);
  }
  expect_same_partials("farthest samples of partial()", samples.d, expected, got);
}

// All outputs of one pass over all rows are correct.
void whole(const Context& context) {
  for (const Samples& samples : data_sets(context)) {
    const Dataset dataset = make_dataset(samples, context.dtype());
    const OwnedSession session = context.open(dataset, kClusters);
    const std::vector<double> centroids = first_rows(samples, kClusters);
    for (const std::int64_t wanted : {0, 1, 25}) {
      std::vector<std::int32_t> labels(samples.n, -1);
      const Accumulated got =
          run_partials(*session, samples, centroids, {0, samples.n}, wanted, labels);
      check_labels(context, "partial()", samples, centroids, labels);
      check_counts("partial()", labels, got.counts);
      check_inertia("partial()", samples, centroids, labels, got.inertia.value());
      expect(got.changed == samples.n, "partial() without former labels: changed is {} of {}",
             got.changed, samples.n);
      check_sums(context, samples, dataset, labels, got);
      check_farthest(samples, centroids, labels, wanted, got);
    }
  }
}

// The result's bits do not depend on how the rows are split.
void splits(const Context& context) {
  for (const Samples& samples : data_sets(context)) {
    const Dataset dataset = make_dataset(samples, context.dtype());
    const OwnedSession session = context.open(dataset, kClusters);
    const std::vector<double> centroids = first_rows(samples, kClusters);
    const std::int64_t n = samples.n;
    std::vector<std::int64_t> sevens;
    for (std::int64_t at = 0; at < n; at += 7) sevens.push_back(at);
    sevens.push_back(n);
    std::vector<std::int32_t> labels(n, -1);
    const Accumulated expected = run_partials(*session, samples, centroids, {0, n}, 10, labels);
    for (const auto& cuts : std::vector<std::vector<std::int64_t>>{
             {0, n / 2, n}, {0, 1, n}, {0, n - 1, n}, {0, 0, n / 3, n / 3, n, n}, sevens}) {
      std::vector<std::int32_t> other_labels(n, -1);
      const Accumulated got = run_partials(*session, samples, centroids, cuts, 10, other_labels);
      const std::string where =
          fmt::format("partial() over {} ranges, the first cut at {}", cuts.size() - 1, cuts[1]);
      expect_same_labels(where, labels, other_labels);
      expect_same_partials(where, samples.d, expected, got);
    }
  }
}

// Integer sums of separate parts equal those of the whole, in any order of addition.
void parts_apart(const Context& context) {
  const Samples samples = rounded(cloud(2000, 3, 84), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, kClusters);
  const std::vector<double> centroids = first_rows(samples, kClusters);
  std::vector<std::int32_t> labels(2000, -1);
  const Accumulated whole_rows = run_partials(*session, samples, centroids, {0, 2000}, 0, labels);
  expect(whole_rows.form != SumForm::compensated,
         "data of ordinary range was summed in the compensated form");
  std::vector<Wide> sums(whole_rows.sums.size(), 0);
  for (const std::int64_t begin : {1500, 0, 500}) {
    const std::int64_t end = begin == 500 ? 1500 : begin + 500;
    const Accumulated part = run_partials(*session, samples, centroids, {begin, end}, 0, labels);
    for (std::size_t at = 0; at < sums.size(); ++at)
      sums[at] = wrapped_sum(sums[at], wide(part.sums[at]));
  }
  for (std::size_t at = 0; at < sums.size(); ++at) {
    expect(sums[at] == wide(whole_rows.sums[at]),
           "the sum {} of three parts is {} quanta, of the whole {}", at,
           static_cast<double>(sums[at]), static_cast<double>(wide(whole_rows.sums[at])));
  }
}

// `changed` is relative to the caller's labels; no state is kept between passes.
void former_labels(const Context& context) {
  const Samples samples = rounded(cloud(1000, 3, 85), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, kClusters);
  const std::vector<double> centroids = first_rows(samples, kClusters);
  std::vector<std::int32_t> labels(1000, -1);
  const Accumulated first = run_partials(*session, samples, centroids, {0, 1000}, 0, labels);
  const Accumulated again = run_partials(*session, samples, centroids, {0, 1000}, 0, labels);
  expect(again.changed == 0, "with its own labels handed in, partial() changed {}", again.changed);
  std::vector<std::int32_t> altered = labels;
  for (const std::int64_t row : {0, 499, 999}) {
    altered[row] = static_cast<std::int32_t>((altered[row] + 1) % kClusters);
  }
  Accumulated third = run_partials(*session, samples, centroids, {0, 600, 1000}, 0, altered);
  expect(third.changed == 3, "with 3 other labels handed in, partial() changed {}", third.changed);
  expect_same_labels("with other labels handed in", labels, altered);
  third.changed = first.changed;
  expect_same_partials("with other labels handed in", samples.d, first, third);
}

// Null outputs are not written; the other outputs are unaffected.
void null_outputs(const Context& context) {
  const Samples samples = rounded(cloud(500, 3, 87), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, kClusters);
  const std::vector<double> centroids = first_rows(samples, kClusters);
  std::vector<std::int32_t> labels(500, -1);
  const Accumulated all = run_partials(*session, samples, centroids, {0, 500}, 0, labels);

  PartialRequest request;
  request.centroids = centroids.data();
  request.clusters = kClusters;
  request.rows = {0, 500};
  request.farthest_wanted = 5;
  PartialResult nothing;
  expect(session->partial(request, nullptr, nothing).ok(), "partial() without any output failed");
  expect(nothing.changed == 500, "partial() without labels: changed is {} of 500", nothing.changed);

  std::vector<std::int64_t> counts(kClusters, 0);
  PartialResult counted;
  counted.counts = counts.data();
  expect(session->partial(request, nullptr, counted).ok(), "partial() with counts only failed");
  expect(counts == all.counts, "partial() with counts only gave other counts");

  ExactSum inertia;
  PartialResult summed;
  summed.inertia = &inertia;
  expect(session->partial(request, nullptr, summed).ok(), "partial() with inertia only failed");
  expect(inertia.value() == all.inertia.value(),
         "partial() with inertia only gave {}, with everything {}", inertia.value(),
         all.inertia.value());
}

}  // namespace

void add_partial_cases(std::vector<Case>& cases) {
  cases.push_back({"partial/whole", Scope::variants, whole});
  cases.push_back({"partial/splits", Scope::variants, splits});
  cases.push_back({"partial/parts-apart", Scope::variants, parts_apart});
  cases.push_back({"partial/former-labels", Scope::variants, former_labels});
  cases.push_back({"partial/null-outputs", Scope::variants, null_outputs});
}

}  // namespace lloyd::conformance
