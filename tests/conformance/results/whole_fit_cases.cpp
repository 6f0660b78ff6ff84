// Whole fits against the reference from the same start.
#include <cmath>

#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"
#include "conformance/support/computed_once.hpp"

namespace lloyd::conformance {
namespace {

// The reference's fit. `name` must be unique within this file.
reference::Fit expected_fit(const Context& context, const char* name, const Samples& samples,
                            const Setting& setting) {
  return computed_once<reference::Fit>(
      context.dtype(), fmt::format("whole fit, {}, fixed: {}", name, setting.fixed),
      [&] { return reference::fit(samples, reference_settings(setting)); });
}

// Checks that the final inertia is within 2 % of the reference's, both at convergence and after a
// fixed number of iterations.
void compare_inertia(const Context& context, const char* name, const Samples& samples,
                     Setting setting) {
  for (const bool fixed : {false, true}) {
    setting.fixed = fixed;
    Trial trial;
    if (!verify_fit(context, name, samples, setting, {}, &trial)) {
      throw CaseSkipped{"the backend does not support the fit: " + context.refusal()};
    }
    const double expected = expected_fit(context, name, samples, setting).inertia;
    expect(std::abs(trial.result.inertia - expected) <= 0.02 * expected,
           "{}: the final inertia is {}, the reference's {}: more than 2 % apart",
           describe(name, samples, setting), trial.result.inertia, expected);
  }
}

void separated_blobs(const Context& context) {
  const Samples samples = rounded(blobs(3000, 7, 12, 1.5, 11), context.dtype());
  Setting setting;
  setting.clusters = 12;
  setting.centroids = first_rows(samples, 12);
  setting.max_iterations = 25;
  compare_inertia(context, "separated blobs", samples, setting);
}

// Two initial centroids in one blob, so that the fit needs many iterations.
void bad_start(const Context& context) {
  const Samples samples = rounded(blobs(2000, 2, 5, 3.0, 12), context.dtype());
  Setting setting;
  setting.clusters = 5;
  for (const std::int64_t row : {0, 5, 10, 1, 6}) {
    setting.centroids.insert(setting.centroids.end(), samples.row(row), samples.row(row) + 2);
  }
  setting.max_iterations = 40;
  compare_inertia(context, "bad start", samples, setting);
}

// Canonical backends: a long fit on data without structure, which amplifies any difference, still
// ends with the same bits.
void canonical_bits(const Context& context) {
  if (!context.canonical()) throw CaseSkipped{"the backend does not claim canonical results"};
  const Samples samples = rounded(cloud(2500, 4, 13), context.dtype());
  Setting setting;
  setting.clusters = 40;
  setting.centroids = first_rows(samples, 40);
  setting.max_iterations = 60;
  const Trial trial = fresh_fit(context, samples, setting);
  expect(trial.result.sum_form != SumForm::compensated,
         "data of ordinary range was summed in the compensated form");
  expect_reference_bits("one cloud", samples.d,
                        expected_fit(context, "one cloud", samples, setting), trial);
}

// Fits that nobody observes, which a backend may run without the host, give the bits of observed
// ones: with an empty cluster, with sums of several words, and to convergence. The samples are too
// many for cuda-fast to run all iterations in one block.
void unobserved(const Context& context) {
  if (!context.repeatable()) throw CaseSkipped{"the backend does not claim to be reproducible"};
  struct Size {
    std::int64_t n, d, k;
  };
  bool any = false;
  for (const Size size : {Size{4099, 2, 32}, Size{4101, 5, 9}, Size{1601, 16, 21}}) {
    for (const bool has_outlier : {false, true}) {
      Samples samples = rounded(cloud(size.n, size.d, 14), context.dtype());
      if (has_outlier) samples.values[777] = static_cast<float>(1e15);
      Setting setting;
      setting.clusters = size.k;
      setting.centroids = first_rows(samples, size.k);
      setting.centroids[0] = 40;  // far from all samples, if there is no outlier
      setting.max_iterations = 20;
      setting.fixed = has_outlier;
      setting.empty = EmptyClusters::relocate;
      const Dataset dataset = make_dataset(samples, context.dtype());
      if (!adapt_to_backend(context, dataset, setting)) continue;
      any = true;
      Run run;
      run.observe = 0;
      const OwnedSession session = context.open(dataset, make_spec(setting));
      const Trial observed = run_fit(*session, samples, setting);
      expect(observed.status.ok(), "fit() failed: {}", status_message(observed.status));
      const Trial silent = run_fit(*session, samples, setting, run);
      expect(silent.status.ok(), "fit() with observe = 0 failed: {}",
             status_message(silent.status));
      expect_same_fit(describe("unobserved against observed", samples, setting), samples.d,
                      observed, silent);
    }
  }
  if (!any) throw CaseSkipped{"all sizes are beyond the backend: " + context.refusal()};
}

}  // namespace

void add_whole_fit_cases(std::vector<Case>& cases) {
  cases.push_back({"whole-fit/separated", Scope::variants, separated_blobs, true});
  cases.push_back({"whole-fit/bad-start", Scope::variants, bad_start});
  cases.push_back({"whole-fit/canonical-bits", Scope::variants, canonical_bits});
  cases.push_back({"whole-fit/unobserved", Scope::variants, unobserved});
}

}  // namespace lloyd::conformance
