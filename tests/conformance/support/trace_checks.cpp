// check_trace(), check_times() and check_stop(): check the iterations of a fit.
#include <cmath>

#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"

namespace lloyd::conformance {
namespace {

std::int64_t differences(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

double shift_between(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t at = 0; at < a.size(); ++at) sum += (b[at] - a[at]) * (b[at] - a[at]);
  return sum;
}

void check_update(const Context& context, const std::string& at, const Samples& samples,
                  const Setting& setting, const std::vector<double>& before,
                  const Observed& observed) {
  const reference::Update expected =
      reference::update(samples, before, observed.labels, reference_policy(setting.empty));
  expect(observed.record.relocations == expected.relocations, "{}: {} relocations, expected {}", at,
         observed.record.relocations, expected.relocations);
  check_means(at, samples, context.dtype(), expected.members, observed.centroids);
  for (std::size_t cell = 0; cell < before.size(); ++cell) {
    const std::size_t c = cell / static_cast<std::size_t>(samples.d);
    if (expected.counts[c] > 0) continue;
    expect(same_bits(observed.centroids[cell], before[cell]),
           "{}: cluster {} is empty and stays, but its feature {} went from {} to {}", at, c,
           cell % static_cast<std::size_t>(samples.d), before[cell], observed.centroids[cell]);
  }
}

}  // namespace

void check_trace(const Context& context, const std::string& where, const Samples& samples,
                 const Setting& setting, const Trial& trial) {
  expect(!trial.trace.empty(), "{}: the observer was not called", where);
  std::vector<std::int32_t> labels(samples.n, -1);
  const std::vector<double>* centroids = &setting.centroids;
  double inertia = std::numeric_limits<double>::infinity();
  std::int64_t relocations = 0;
  for (std::size_t t = 0; t < trial.trace.size(); ++t) {
    const Observed& observed = trial.trace[t];
    const IterationRecord& record = observed.record;
    const std::string at = fmt::format("{}, iteration {}", where, t + 1);
    expect(record.iteration == static_cast<std::int64_t>(t) + 1, "{}: the record says {}", at,
           record.iteration);
    expect(!observed.labels.empty(), "{}: the record has no labels", at);
    expect(!observed.centroids.empty(), "{}: the record has no centroids", at);
    check_labels(context, at, samples, *centroids, observed.labels);
    const std::int64_t changed = differences(labels, observed.labels);
    expect(record.changed == changed, "{}: {} labels reported as changed, {} did", at,
           record.changed, changed);
    check_inertia(at, samples, *centroids, observed.labels, record.inertia);
    check_update(context, at, samples, setting, *centroids, observed);
    const double shift = shift_between(*centroids, observed.centroids);
    expect(std::abs(record.shift - shift) <= 1e-12 * shift,
           "{}: the shift is {}, the centroids moved by {}", at, record.shift, shift);
    expect(!context.exact() || record.inertia <= inertia * (1 + 1e-12),
           "{}: the inertia rose from {} to {}", at, inertia, record.inertia);
    labels = observed.labels;
    centroids = &observed.centroids;
    inertia = record.inertia;
    relocations += record.relocations;
  }
  expect_same(where + ", returned centroids against the last iteration's", samples.d, *centroids,
              trial.centroids);
  expect(!context.exact() || trial.result.inertia <= inertia * (1 + 1e-12),
         "{}: the inertia rose from {} in the last iteration to {}", where, inertia,
         trial.result.inertia);
  expect(trial.result.relocations == relocations, "{}: {} relocations reported, {} observed", where,
         trial.result.relocations, relocations);
}

void check_times(const std::string& where, const Trial& trial) {
  double elapsed = 0;
  for (const Observed& observed : trial.trace) {
    const IterationRecord& record = observed.record;
    expect(record.elapsed_ms >= elapsed, "{}, iteration {}: the elapsed time fell from {} to {} ms",
           where, record.iteration, elapsed, record.elapsed_ms);
    elapsed = record.elapsed_ms;
  }
}

void check_stop(const std::string& where, const Setting& setting, const Trial& trial) {
  StopReason expected = StopReason::none;
  std::int64_t iterations = 0;
  for (const Observed& observed : trial.trace) {
    const IterationRecord& record = observed.record;
    iterations = record.iteration;
    const bool may_converge = !setting.fixed && record.relocations == 0;
    if (may_converge && record.changed == 0) {
      expected = StopReason::labels;
    } else if (may_converge && setting.tolerance > 0 && record.shift <= setting.tolerance) {
      expected = StopReason::tolerance;
    } else if (record.iteration >= setting.max_iterations) {
      expected = StopReason::max_iterations;
    }
    if (expected != StopReason::none) break;
  }
  expect(expected != StopReason::none,
         "{}: the fit ended after {} iterations, and no stop rule applied", where, iterations);
  const auto observed = static_cast<std::int64_t>(trial.trace.size());
  expect(observed == iterations,
         "{}: {} iterations were run, but the fit had to stop ({}) after iteration {}", where,
         observed, to_string(expected), iterations);
  expect(trial.result.iterations == iterations, "{}: {} iterations reported, {} run", where,
         trial.result.iterations, iterations);
  expect(trial.result.stop_reason == expected, "{}: the stop reason is '{}', expected '{}'", where,
         to_string(trial.result.stop_reason), to_string(expected));
}

}  // namespace lloyd::conformance
