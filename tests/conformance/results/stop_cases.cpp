// Each stop rule, and their order. The data are small integers with exact means.
#include <cstdint>
#include <vector>

#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"

namespace lloyd::conformance {
namespace {

// The fit ends after two iterations: {0, 0, 8, 8} and {24, 24, 32, 32}, centroids 4 and 28.
const Samples kSamples{8, 1, {0, 0, 8, 8, 24, 24, 32, 32}};

Setting start(std::vector<double> centroids) {
  Setting setting;
  setting.clusters = static_cast<std::int64_t>(centroids.size());
  setting.centroids = std::move(centroids);
  return setting;
}

void expect_stop(const Context& context, const char* name, const Samples& samples,
                 const Setting& setting, StopReason reason, std::int64_t iterations) {
  const Trial trial = fresh_fit(context, samples, setting);
  expect(trial.result.stop_reason == reason && trial.result.iterations == iterations,
         "{}: stopped by '{}' after {} iterations, expected '{}' after {}", name,
         to_string(trial.result.stop_reason), trial.result.iterations, to_string(reason),
         iterations);
  check_trace(context, name, samples, setting, trial);
  check_stop(name, setting, trial);
  check_closing(context, name, samples, trial);
  expect_reference_bits(name, samples, setting, trial);
}

void labels(const Context& context) {
  // First the samples at 8 move to the cluster of 0; then the centroids move to 4 and 28, and no
  // label changes.
  expect_stop(context, "labels unchanged", kSamples, start({0, 32}), StopReason::labels, 2);
  // The tolerance is met in the same iteration, but the rule `labels` takes precedence.
  Setting both = start({0, 32});
  both.tolerance = 1e-9;
  expect_stop(context, "labels before tolerance", kSamples, both, StopReason::labels, 2);
}

void tolerance(const Context& context) {
  // The first shift is 4^2 + 4^2 = 32.
  Setting setting = start({0, 32});
  setting.tolerance = 32;
  expect_stop(context, "shift equal to the tolerance", kSamples, setting, StopReason::tolerance, 1);
  setting.tolerance = 31;
  expect_stop(context, "shift above the tolerance", kSamples, setting, StopReason::labels, 2);
}

// A start at the means gives a first shift of 0, which does not stop a fit without a tolerance.
void no_tolerance(const Context& context) {
  expect_stop(context, "shift 0 with the tolerance off", kSamples, start({4, 28}),
              StopReason::labels, 2);
  Setting setting = start({4, 28});
  setting.tolerance = 1e-30;
  expect_stop(context, "shift 0 with a tolerance", kSamples, setting, StopReason::tolerance, 1);
}

void max_iterations(const Context& context) {
  Setting setting = start({0, 32});
  setting.max_iterations = 1;
  expect_stop(context, "max_iterations", kSamples, setting, StopReason::max_iterations, 1);
  setting.max_iterations = 2;
  expect_stop(context, "labels in the last iteration", kSamples, setting, StopReason::labels, 2);
  setting.max_iterations = 1;
  setting.tolerance = 32;
  expect_stop(context, "tolerance in the last iteration", kSamples, setting, StopReason::tolerance,
              1);
}

void fixed_past_convergence(const Context& context) {
  Setting setting = start({0, 32});
  setting.fixed = true;
  setting.tolerance = 1e9;
  setting.max_iterations = 7;
  expect_stop(context, "fixed", kSamples, setting, StopReason::max_iterations, 7);
  setting.max_iterations = 1;
  expect_stop(context, "fixed, one iteration", kSamples, setting, StopReason::max_iterations, 1);
}

// The tolerance does not stop the fit after an iteration with a relocation; max_iterations does.
void relocation_goes_on(const Context& context) {
  Setting setting = start({0, 32, 1000});
  setting.empty = EmptyClusters::relocate;
  setting.tolerance = 1e9;
  const Samples samples{8, 1, {0, 0, 0, 4, 24, 24, 32, 32}};
  // Iteration 1 relocates cluster 2 to row 4 (24); iteration 2 may stop.
  expect_stop(context, "relocation within the tolerance", samples, setting, StopReason::tolerance,
              2);
  setting.max_iterations = 1;
  expect_stop(context, "relocation in the last iteration", samples, setting,
              StopReason::max_iterations, 1);
}

// The last update may change nearest centroids; the returned labels must belong to the returned
// centroids.
void closing_assignment(const Context& context) {
  // Each value several times, since this case is essential, and backends may refuse few samples.
  constexpr int kCopies = 8;
  Samples samples{4 * kCopies, 1, {}};
  std::vector<std::int32_t> assigned;
  std::vector<std::int32_t> closing;
  for (int copy = 0; copy < kCopies; ++copy) {
    samples.values.insert(samples.values.end(), {0, 4, 6, 20});
    assigned.insert(assigned.end(), {0, 1, 1, 1});
    closing.insert(closing.end(), {0, 0, 1, 1});
  }
  Setting setting = start({0, 6});
  setting.max_iterations = 1;
  setting.fixed = true;
  // The assignment gives {0 | 4, 6, 20}, hence the centroids 0 and 10; 4 is then nearer to 0.
  const Trial trial = fresh_fit(context, samples, setting);
  expect(!trial.trace.empty(), "the observer was not called");
  expect_same_labels("the last assignment", assigned, trial.trace.back().labels);
  expect_same("returned centroids", 1, {0, 10}, trial.centroids);
  expect_same_labels("the closing assignment", closing, trial.labels);
  expect_same_counts("the closing assignment", {2 * kCopies, 2 * kCopies}, trial.counts);
  expect_same("the closing assignment", "the inertia", kCopies * 132, trial.result.inertia);
}

}  // namespace

void add_stop_cases(std::vector<Case>& cases) {
  cases.push_back({"stop/labels", Scope::variants, labels});
  cases.push_back({"stop/tolerance", Scope::variants, tolerance});
  cases.push_back({"stop/no-tolerance", Scope::variants, no_tolerance});
  cases.push_back({"stop/max-iterations", Scope::variants, max_iterations});
  cases.push_back({"stop/fixed-past-convergence", Scope::variants, fixed_past_convergence});
  cases.push_back({"stop/relocation-goes-on", Scope::variants, relocation_goes_on});
  cases.push_back({"stop/closing-assignment", Scope::variants, closing_assignment, true});
}

}  // namespace lloyd::conformance
