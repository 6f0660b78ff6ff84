// PassKernels, if a session provides them: passes that keep their state give results with the bits
// of partial(), for any split of the rows and any sequence of centroids.
#include <algorithm>

#include <lloyd/plugin/abi/pass_kernels.hpp>

#include "conformance/interface/pass_trial.hpp"

namespace lloyd::conformance {
namespace {

void sequence(const Context& context) {
  for (const NamedSamples& data : pass_data_sets(context)) {
    const Dataset dataset = make_dataset(data.samples, context.dtype());
    const OwnedSession session = context.open(dataset, kPassClusters);
    const OwnedSession checking = context.open(dataset, kPassClusters);
    check_pass_sequence(context, data, kernels_of(*session), *checking);
  }
}

// Parts of the rows, each in its own session: limbs, counts and inertia add up to those of the
// whole.
void pass_splits(const Context& context) {
  for (const auto& [name, samples, limbs] : pass_data_sets(context)) {
    const Dataset dataset = make_dataset(samples, context.dtype());
    const OwnedSession whole = context.open(dataset, kPassClusters);
    PassKernels& kernels = kernels_of(*whole);
    const std::int64_t n = samples.n;
    const std::vector<std::int64_t> cuts = {0, 1, n / 3, n / 3 + 64, n};
    const std::vector<OwnedSession> parts = begin_parts(context, dataset, cuts, limbs);
    begin(kernels, kPassClusters, limbs);
    Totals expected(limbs, kPassClusters, samples.d);
    Totals got = expected;
    for (const std::vector<double>& centroids : centroid_sequence(samples)) {
      ExactSum inertia;
      ExactSum split_inertia;
      const PassResult result = run_pass(kernels, centroids, expected, &inertia);
      const std::vector<std::int32_t> labels = labels_of(kernels, n);
      std::int64_t changed = 0;
      std::vector<std::int32_t> split_labels;
      for (std::size_t part = 0; part < parts.size(); ++part) {
        PassKernels& own = kernels_of(*parts[part]);
        changed += run_pass(own, centroids, got, &split_inertia).changed;
        const auto some = labels_of(own, cuts[part + 1] - cuts[part]);
        split_labels.insert(split_labels.end(), some.begin(), some.end());
      }
      if (!context.order_free()) continue;
      expect_same_labels(name, labels, split_labels);
      expect_same_totals(name, expected, got);
      expect_same(name, "the inertia", inertia.value(), split_inertia.value());
      expect(changed == result.changed, "{}: {} labels changed in the parts, {} in the whole", name,
             changed, result.changed);
    }
  }
}

// Calls out of order are refused; a fit, a labelling or a cancelled pass ends the passes, and new
// ones give the same results.
void order(const Context& context) {
  const Samples samples = rounded(cloud(800, 3, 94), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, kPassClusters);
  PassKernels& kernels = kernels_of(*session);
  const SumLimbs limbs{4, 32};
  const std::vector<double> centroids = first_rows(samples, kPassClusters);
  Totals totals(limbs, kPassClusters, samples.d);
  PassRequest request;
  request.centroids = centroids.data();
  PassResult result;
  std::vector<std::int32_t> labels(samples.n);
  std::vector<FarSample> far(4);
  std::int64_t count = 0;
  const auto unbegun = [&](const char* when) {
    expect_refused(when, kernels.pass(request, nullptr, result));
    expect_refused(when, kernels.labels(labels.data()));
    expect_refused(when, kernels.farthest(4, nullptr, far.data(), &count));
  };
  kernels.end();
  unbegun("before begin()");
  begin(kernels, kPassClusters, limbs);
  expect_refused("labels() before a pass", kernels.labels(labels.data()));
  begin(kernels, kPassClusters, limbs);
  run_pass(kernels, centroids, totals);
  const std::vector<std::int32_t> expected = labels_of(kernels, samples.n);
  kernels.end();
  unbegun("after end()");

  begin(kernels, kPassClusters, limbs);
  fit_between_passes(*session, samples, centroids);
  unbegun("after fit()");
  begin(kernels, kPassClusters, limbs);
  expect_ok("label() between passes", run_label(*session, samples, centroids).status);
  unbegun("after label()");

  begin(kernels, kPassClusters, limbs);
  StopAtOnce stop;
  const Status cancelled = kernels.pass(request, &stop, result);
  expect(cancelled.code == StatusCode::cancelled, "a cancelled pass: expected cancelled, got {}",
         status_message(cancelled));
  begin(kernels, kPassClusters, limbs);
  Totals again(limbs, kPassClusters, samples.d);
  PassResult repeated = run_pass(kernels, centroids, again);
  expect(repeated.changed == samples.n, "the first pass changed {} labels of {}", repeated.changed,
         samples.n);
  if (!context.repeatable()) return;
  expect_same_labels("after a cancelled pass", expected, labels_of(kernels, samples.n));
  expect(again.sums == totals.sums && again.counts == totals.counts,
         "after a cancelled pass, another pass has other sums");
}

// Outputs that are not requested are not needed by later passes.
void pass_null_outputs(const Context& context) {
  const Samples samples = rounded(cloud(500, 3, 95), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, kPassClusters);
  PassKernels& kernels = kernels_of(*session);
  begin(kernels, kPassClusters, {4, 32});
  const std::vector<std::vector<double>> centroids = centroid_sequence(samples);
  PassRequest request;
  request.centroids = centroids[0].data();
  PassResult result;
  expect_ok("pass() without outputs", kernels.pass(request, nullptr, result));
  expect(result.changed == samples.n, "pass() without outputs changed {} labels", result.changed);
  Totals totals({4, 32}, kPassClusters, samples.d);
  const std::vector<std::int32_t> former = labels_of(kernels, samples.n);
  run_pass(kernels, centroids[2], totals);
  std::vector<std::int64_t> expected(kPassClusters, 0);
  const std::vector<std::int32_t> labels = labels_of(kernels, samples.n);
  for (std::int64_t i = 0; i < samples.n; ++i) {
    ++expected[labels[i]];
    --expected[former[i]];
  }
  expect_same_counts("the change of the counts", expected, totals.counts);

  // The same passes with all outputs.
  begin(kernels, kPassClusters, totals.limbs);
  Totals all(totals.limbs, kPassClusters, samples.d);
  run_pass(kernels, centroids[0], all);
  const Totals before = all;
  run_pass(kernels, centroids[2], all);
  expect_same_labels("the passes with outputs", labels, labels_of(kernels, samples.n));
  for (std::size_t at = 0; at < samples.d * all.counts.size(); ++at) {
    const Wide change = wrapped_sum(all.sum(at), -before.sum(at));
    expect(totals.sum(at) == change,
           "sum {} changed by {} quanta after a pass without outputs, by {} after one with", at,
           static_cast<double>(totals.sum(at)), static_cast<double>(change));
  }
}

}  // namespace

void add_pass_cases(std::vector<Case>& cases) {
  cases.push_back({"pass/sequence", Scope::variants, sequence});
  cases.push_back({"pass/splits", Scope::variants, pass_splits});
  cases.push_back({"pass/order", Scope::defaults, order});
  cases.push_back({"pass/null-outputs", Scope::defaults, pass_null_outputs});
}

}  // namespace lloyd::conformance
