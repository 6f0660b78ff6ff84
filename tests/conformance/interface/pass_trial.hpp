// Runs passes of PassKernels across the plugin boundary and checks them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <lloyd/plugin/abi/pass_kernels.hpp>

#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"
#include "conformance/support/partial_trial.hpp"

namespace lloyd::conformance {

/// Clusters of the passes.
inline constexpr std::int64_t kPassClusters = 7;

inline void expect_ok(const char* what, const Status& status) {
  expect(status.ok(), "{} failed: {}", what, status_message(status));
}

/// The totals that a host keeps: the changes of all passes added up.
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

inline void expect_same_totals(const std::string& where, const Totals& expected,
                               const Totals& got) {
  expect_same_counts(where, expected.counts, got.counts);
  const std::size_t cells = expected.sums.size() / static_cast<std::size_t>(expected.limbs.count);
  for (std::size_t at = 0; at < cells; ++at) {
    expect(expected.sum(at) == got.sum(at), "{}: sum {} is {} quanta, expected {}", where, at,
           static_cast<double>(got.sum(at)), static_cast<double>(expected.sum(at)));
  }
}

inline PassKernels& kernels_of(Session& session) {
  auto* const offered = static_cast<PassKernels*>(session.query(kPassKernels));
  if (offered == nullptr) throw CaseSkipped{"the backend does not keep the state of passes"};
  return *offered;
}

inline PassResult run_pass(PassKernels& kernels, const std::vector<double>& centroids,
                           Totals& totals, ExactSum* inertia = nullptr) {
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

inline std::vector<std::int32_t> labels_of(PassKernels& kernels, std::int64_t n) {
  Fenced<std::int32_t> labels(n);
  expect_ok("labels()", kernels.labels(labels.data()));
  return labels.take("labels of labels()");
}

inline void begin(PassKernels& kernels, std::int64_t clusters, const SumLimbs& limbs) {
  PassOptions options;
  options.clusters = clusters;
  options.limbs = limbs;
  expect_ok("begin()", kernels.begin(options));
}

/// Opens a session on each part of the rows between ascending `cuts`, e.g. {0, 10, n}, and begins
/// passes in it.
inline std::vector<OwnedSession> begin_parts(const Context& context, const Dataset& dataset,
                                             const std::vector<std::int64_t>& cuts,
                                             const SumLimbs& limbs) {
  std::vector<OwnedSession> parts;
  for (std::size_t part = 0; part + 1 < cuts.size(); ++part) {
    DatasetView view = dataset.view();
    const std::int64_t bytes = cuts[part] * view.stride * size_of(view.dtype);
    view.data = static_cast<const char*>(view.data) + bytes;
    view.samples = cuts[part + 1] - cuts[part];
    Session* session = nullptr;
    const Status status = context.backend().open(view, context.parameters().list(), &session);
    parts.push_back(opened(status, session, "open() of a part of the rows"));
    begin(kernels_of(*parts.back()), kPassClusters, limbs);
  }
  return parts;
}

/// Requests cancellation at once.
struct StopAtOnce final : Observer {
  bool on_iteration(const IterationRecord&) noexcept override { return true; }
  bool stop_requested() const noexcept override { return true; }
  void* query(const char*) noexcept override { return nullptr; }
};

inline void expect_refused(const char* what, const Status& status) {
  expect(status.code == StatusCode::invalid_argument, "{}: expected invalid_argument, got {}", what,
         status_message(status));
}

/// Runs a fit, which ends the passes of the session.
inline void fit_between_passes(Session& session, const Samples& samples,
                               const std::vector<double>& centroids) {
  Setting setting;
  setting.clusters = kPassClusters;
  setting.centroids = centroids;
  expect_ok("fit() between passes", run_fit(session, samples, setting).status);
}

/// Centroids of six passes: they move a little, then further, back to the start, and not at all.
inline std::vector<std::vector<double>> centroid_sequence(const Samples& samples) {
  std::vector<std::vector<double>> sequence;
  const std::vector<double> first = first_rows(samples, kPassClusters);
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

/// Sums of one word, of two words in limbs of several widths, and ties.
inline std::vector<NamedSamples> pass_data_sets(const Context& context) {
  const double reach = context.dtype() == DType::float32 ? 1e12 : 1e8;
  const Samples wide_values = rounded(wide_range(900, 2, reach, 92), context.dtype());
  return {{"a cloud", rounded(cloud(5003, 3, 91), context.dtype()), {4, 32}},
          {"a lattice", lattice(600, 5, 9, 93), {1, 63}},
          {"a wide range, 24 bits", wide_values, {6, 24}},
          {"a wide range, 43 bits", wide_values, {3, 43}},
          {"two limbs", rounded(wide_range(900, 2, 1e4, 96), context.dtype()), {2, 57}}};
}

/// Runs a pass by these centroids, and adds its outputs to `totals` and `inertia`.
using PassRunner = std::function<PassResult(const std::vector<double>& centroids, Totals& totals,
                                            ExactSum& inertia)>;

/// Runs the sequence of passes twice, and checks labels, changes of sums and counts, inertia and
/// far samples of each pass. `run` runs a pass in the session of `kernels`; `checking`: a session
/// on the same samples with partial().
inline void check_pass_sequence(const Context& context, const NamedSamples& data,
                                PassKernels& kernels, Session& checking, const PassRunner& run) {
  const auto& [name, samples, limbs] = data;
  for (int again = 0; again < 2; ++again) {
    begin(kernels, kPassClusters, limbs);
    Totals totals(limbs, kPassClusters, samples.d);
    std::vector<std::int32_t> former(samples.n, -1);
    for (const std::vector<double>& centroids : centroid_sequence(samples)) {
      ExactSum inertia;
      const PassResult result = run(centroids, totals, inertia);
      const std::vector<std::int32_t> labels = labels_of(kernels, samples.n);
      check_labels(context, name, samples, centroids, labels);
      check_counts(name, labels, totals.counts);
      check_inertia(name, samples, centroids, labels, inertia.value());
      expect(result.distances >= 0 && result.distances <= 2 * samples.n * kPassClusters,
             "{}: a pass evaluated {} distances", name, result.distances);
      std::int64_t changed = 0;
      for (std::int64_t i = 0; i < samples.n; ++i) changed += labels[i] != former[i];
      expect(result.changed == changed, "{}: pass() reports {} changed labels, {} have changed",
             name, result.changed, changed);
      former = labels;
      if (!context.exact()) continue;
      std::vector<std::int32_t> same(samples.n, -1);
      const Accumulated expected =
          run_partials(checking, samples, centroids, {0, samples.n}, 20, same);
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

/// As above, with passes of PassKernels.
inline void check_pass_sequence(const Context& context, const NamedSamples& data,
                                PassKernels& kernels, Session& checking) {
  check_pass_sequence(context, data, kernels, checking,
                      [&](const std::vector<double>& centroids, Totals& totals, ExactSum& inertia) {
                        return run_pass(kernels, centroids, totals, &inertia);
                      });
}

}  // namespace lloyd::conformance
