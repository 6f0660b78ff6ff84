// PassKernels, if a session provides them: passes that keep their state give results with the bits
// of partial(), for any split of the rows and any sequence of centroids.
#include <algorithm>

#include <lloyd/plugin/abi/pass_kernels.hpp>

#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"
#include "conformance/support/partial_trial.hpp"

namespace lloyd::conformance {
namespace {

constexpr std::int64_t kClusters = 7;

PassKernels& kernels_of(Session& session) {
  auto* const offered = static_cast<PassKernels*>(session.query(kPassKernels));
  if (offered == nullptr) throw CaseSkipped{"the backend does not keep the state of passes"};
  return *offered;
}

void expect_ok(const char* what, const Status& status) {
  expect(status.ok(), "{} failed: {}", what, status_message(status));
}

// The totals that a host keeps: the changes of all passes added up.
struct Totals {
  Totals(const SumLimbs& form, std::int64_t k, std::int64_t d)
      : limbs(form), sums(static_cast<std::size_t>(form.count * k * d)), counts(k, 0) {}

  Wide sum(std::size_t cell) const {
    const std::size_t cells = sums.size() / static_cast<std::size_t>(limbs.count);
    Wide value = 0;
    for (int limb = limbs.count; limb-- > 0;) {
      value = wrapped_sum(value * (static_cast<Wide>(1) << limbs.bits), sums[limb * cells + cell]);
    }
    return value;
  }

  SumLimbs limbs;
  std::vector<std::int64_t> sums;
  std::vector<std::int64_t> counts;
};

PassResult run_pass(PassKernels& kernels, const std::vector<double>& centroids, Totals& totals,
                    ExactSum* inertia = nullptr) {
  Fenced<std::int64_t> sums(std::ssize(totals.sums));
  Fenced<std::int64_t> counts(std::ssize(totals.counts));
  std::copy(totals.sums.begin(), totals.sums.end(), sums.data());
  std::copy(totals.counts.begin(), totals.counts.end(), counts.data());
  PassRequest request;
  request.centroids = centroids.data();
  request.sums = sums.data();
  request.counts = counts.data();
  request.inertia = inertia;
  PassResult result;
  result.changed = result.distances = -7;
  expect_ok("pass()", kernels.pass(request, nullptr, result));
  totals.sums = sums.take("sums of pass()");
  totals.counts = counts.take("counts of pass()");
  return result;
}

std::vector<std::int32_t> labels_of(PassKernels& kernels, std::int64_t n) {
  Fenced<std::int32_t> labels(n);
  expect_ok("labels()", kernels.labels(labels.data()));
  return labels.take("labels of labels()");
}

void begin(PassKernels& kernels, std::int64_t clusters, const SumLimbs& limbs) {
  PassOptions options;
  options.clusters = clusters;
  options.limbs = limbs;
  expect_ok("begin()", kernels.begin(options));
}

// Centroids of six passes: they move a little, then further, back to the start, and not at all.
std::vector<std::vector<double>> centroid_sequence(const Samples& samples) {
  std::vector<std::vector<double>> sequence;
  const std::vector<double> first = first_rows(samples, kClusters);
  sequence.push_back(first);
  for (const double step : {1e-3, 0.25, 8.0}) {
    std::vector<double> moved = sequence.back();
    for (std::size_t at = 0; at < moved.size(); ++at) {
      moved[at] += step * static_cast<double>(static_cast<int>(at % 5) - 2);
    }
    sequence.push_back(moved);
  }
  sequence.push_back(first);
  sequence.push_back(first);
  return sequence;
}

struct NamedSamples {
  const char* name;
  Samples samples;
  SumLimbs limbs;
};

// Sums of one word, of two words in limbs of several widths, and ties.
std::vector<NamedSamples> pass_data_sets(const Context& context) {
  const double reach = context.dtype() == DType::float32 ? 1e12 : 1e8;
  const Samples wide_values = rounded(wide_range(900, 2, reach, 92), context.dtype());
  return {{"a cloud", rounded(cloud(5003, 3, 91), context.dtype()), {4, 32}},
          {"a lattice", lattice(600, 5, 9, 93), {1, 63}},
          {"a wide range, 24 bits", wide_values, {6, 24}},
          {"a wide range, 43 bits", wide_values, {3, 43}}};
}

// Checks labels, changes of sums and counts, inertia and far samples of each pass.
void sequence(const Context& context) {
  for (const auto& [name, samples, limbs] : pass_data_sets(context)) {
    const Dataset dataset = make_dataset(samples, context.dtype());
    const OwnedSession session = context.open(dataset, kClusters);
    const OwnedSession checking = context.open(dataset, kClusters);
    PassKernels& kernels = kernels_of(*session);
    for (int again = 0; again < 2; ++again) {
      begin(kernels, kClusters, limbs);
      Totals totals(limbs, kClusters, samples.d);
      std::vector<std::int32_t> former(samples.n, -1);
      for (const std::vector<double>& centroids : centroid_sequence(samples)) {
        ExactSum inertia;
        const PassResult result = run_pass(kernels, centroids, totals, &inertia);
        const std::vector<std::int32_t> labels = labels_of(kernels, samples.n);
        check_labels(context, name, samples, centroids, labels);
        check_counts(name, labels, totals.counts);
        check_inertia(name, samples, centroids, labels, inertia.value());
        expect(result.distances >= 0 && result.distances <= 2 * samples.n * kClusters,
               "{}: a pass evaluated {} distances", name, result.distances);
        std::int64_t changed = 0;
        for (std::int64_t i = 0; i < samples.n; ++i) changed += labels[i] != former[i];
        expect(result.changed == changed, "{}: pass() reports {} changed labels, {} have changed",
               name, result.changed, changed);
        former = labels;
        if (!context.exact()) continue;
        std::vector<std::int32_t> same(samples.n, -1);
        const Accumulated expected =
            run_partials(*checking, samples, centroids, {0, samples.n}, 20, same);
        expect_same_labels(name, same, labels);
        for (std::size_t at = 0; at < expected.sums.size(); ++at) {
          expect(totals.sum(at) == wide(expected.sums[at]),
                 "{}: sum {} is {} quanta after a pass, that of partial() {}", name, at,
                 static_cast<double>(totals.sum(at)), static_cast<double>(wide(expected.sums[at])));
        }
        expect_same(name, "the inertia", expected.inertia.value(), inertia.value());
        Accumulated far = expected;
        far.farthest.assign(21, FarSample{-7, 0, 0, 0});
        std::int64_t count = -7;
        expect_ok("farthest()", kernels.farthest(20, nullptr, far.farthest.data(), &count));
        expect(count >= 0 && count <= 20 && far.farthest.back().row == -7,
               "{}: farthest() gave {} samples of 20", name, count);
        far.farthest.resize(static_cast<std::size_t>(count));
        expect_same_partials(name, samples.d, expected, far);
      }
      if (again == 0) kernels.end();
    }
  }
}

// The view of rows [begin, end) of a data set.
DatasetView part_of(const Dataset& dataset, std::int64_t begin, std::int64_t end) {
  DatasetView view = dataset.view();
  const std::int64_t bytes = begin * view.stride * size_of(view.dtype);
  view.data = static_cast<const char*>(view.data) + bytes;
  view.samples = end - begin;
  return view;
}

// Parts of the rows, each in its own session: limbs, counts and inertia add up to those of the
// whole.
void splits(const Context& context) {
  for (const auto& [name, samples, limbs] : pass_data_sets(context)) {
    const Dataset dataset = make_dataset(samples, context.dtype());
    const OwnedSession whole = context.open(dataset, kClusters);
    PassKernels& kernels = kernels_of(*whole);
    const std::int64_t n = samples.n;
    const std::vector<std::int64_t> cuts = {0, 1, n / 3, n / 3 + 64, n};
    std::vector<OwnedSession> parts;
    for (std::size_t part = 0; part + 1 < cuts.size(); ++part) {
      Session* session = nullptr;
      const Status status = context.backend().open(part_of(dataset, cuts[part], cuts[part + 1]),
                                                   context.parameters().list(), &session);
      parts.push_back(opened(status, session, "open() of a part of the rows"));
      begin(kernels_of(*parts.back()), kClusters, limbs);
    }
    begin(kernels, kClusters, limbs);
    Totals expected(limbs, kClusters, samples.d);
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
      expect_same_counts(name, expected.counts, got.counts);
      for (std::size_t at = 0; at < kClusters * static_cast<std::size_t>(samples.d); ++at) {
        expect(expected.sum(at) == got.sum(at),
               "{}: sum {} of {} parts is {} quanta, of the whole {}", name, at, parts.size(),
               static_cast<double>(got.sum(at)), static_cast<double>(expected.sum(at)));
      }
      expect_same(name, "the inertia", inertia.value(), split_inertia.value());
      expect(changed == result.changed, "{}: {} labels changed in the parts, {} in the whole", name,
             changed, result.changed);
    }
  }
}

struct StopAtOnce final : Observer {
  bool on_iteration(const IterationRecord&) noexcept override { return true; }
  bool stop_requested() const noexcept override { return true; }
  void* query(const char*) noexcept override { return nullptr; }
};

// Calls out of order are refused; a fit, a labelling or a cancelled pass ends the passes, and new
// ones give the same results.
void order(const Context& context) {
  const Samples samples = rounded(cloud(800, 3, 94), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, kClusters);
  PassKernels& kernels = kernels_of(*session);
  const SumLimbs limbs{4, 32};
  const std::vector<double> centroids = first_rows(samples, kClusters);
  Totals totals(limbs, kClusters, samples.d);
  PassRequest request;
  request.centroids = centroids.data();
  PassResult result;
  std::vector<std::int32_t> labels(samples.n);
  std::vector<FarSample> far(4);
  std::int64_t count = 0;
  const auto refused = [](const char* what, const Status& status) {
    expect(status.code == StatusCode::invalid_argument, "{}: expected invalid_argument, got {}",
           what, status_message(status));
  };
  const auto unbegun = [&](const char* when) {
    refused(when, kernels.pass(request, nullptr, result));
    refused(when, kernels.labels(labels.data()));
    refused(when, kernels.farthest(4, nullptr, far.data(), &count));
  };
  kernels.end();
  unbegun("before begin()");
  begin(kernels, kClusters, limbs);
  refused("labels() before a pass", kernels.labels(labels.data()));
  begin(kernels, kClusters, limbs);
  run_pass(kernels, centroids, totals);
  const std::vector<std::int32_t> expected = labels_of(kernels, samples.n);
  kernels.end();
  unbegun("after end()");

  Setting setting;
  setting.clusters = kClusters;
  setting.centroids = centroids;
  begin(kernels, kClusters, limbs);
  expect_ok("fit() between passes", run_fit(*session, samples, setting).status);
  unbegun("after fit()");
  begin(kernels, kClusters, limbs);
  expect_ok("label() between passes", run_label(*session, samples, centroids).status);
  unbegun("after label()");

  begin(kernels, kClusters, limbs);
  StopAtOnce stop;
  const Status cancelled = kernels.pass(request, &stop, result);
  expect(cancelled.code == StatusCode::cancelled, "a cancelled pass: expected cancelled, got {}",
         status_message(cancelled));
  begin(kernels, kClusters, limbs);
  Totals again(limbs, kClusters, samples.d);
  PassResult repeated = run_pass(kernels, centroids, again);
  expect(repeated.changed == samples.n, "the first pass changed {} labels of {}", repeated.changed,
         samples.n);
  if (!context.repeatable()) return;
  expect_same_labels("after a cancelled pass", expected, labels_of(kernels, samples.n));
  expect(again.sums == totals.sums && again.counts == totals.counts,
         "after a cancelled pass, another pass has other sums");
}

// Outputs that are not requested are not needed by later passes.
void null_outputs(const Context& context) {
  const Samples samples = rounded(cloud(500, 3, 95), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, kClusters);
  PassKernels& kernels = kernels_of(*session);
  begin(kernels, kClusters, {4, 32});
  const std::vector<std::vector<double>> centroids = centroid_sequence(samples);
  PassRequest request;
  request.centroids = centroids[0].data();
  PassResult result;
  expect_ok("pass() without outputs", kernels.pass(request, nullptr, result));
  expect(result.changed == samples.n, "pass() without outputs changed {} labels", result.changed);
  Totals totals({4, 32}, kClusters, samples.d);
  const std::vector<std::int32_t> former = labels_of(kernels, samples.n);
  run_pass(kernels, centroids[2], totals);
  std::vector<std::int64_t> expected(kClusters, 0);
  const std::vector<std::int32_t> labels = labels_of(kernels, samples.n);
  for (std::int64_t i = 0; i < samples.n; ++i) {
    ++expected[labels[i]];
    --expected[former[i]];
  }
  expect_same_counts("the change of the counts", expected, totals.counts);
}

}  // namespace

void add_pass_cases(std::vector<Case>& cases) {
  cases.push_back({"pass/sequence", Scope::variants, sequence});
  cases.push_back({"pass/splits", Scope::variants, splits});
  cases.push_back({"pass/order", Scope::defaults, order});
  cases.push_back({"pass/null-outputs", Scope::defaults, null_outputs});
}

}  // namespace lloyd::conformance
