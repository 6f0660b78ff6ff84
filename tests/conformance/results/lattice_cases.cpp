// Data on an integer lattice, for which every arithmetic is exact, including products of 16-bit
// formats: small integers, and means with few binary digits. Backends of every accuracy must match
// the reference bit for bit.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"
#include "conformance/support/computed_once.hpp"

namespace lloyd::conformance {
namespace {

constexpr std::int64_t kExtent = 6;
constexpr int kLargestCount = 16;

// True if all values in all iterations are multiples of 1 / parts, so that nothing is rounded.
bool exact_everywhere(const reference::Fit& fit, int parts) {
  for (const reference::Iteration& iteration : fit.trace) {
    for (const double value : iteration.centroids) {
      if (std::floor(value * parts) != value * parts) return false;
    }
  }
  return true;
}

// Runs a fit and compares it bit for bit. Returns false if the backend does not support it.
bool compare(const Context& context, const std::string& where, const Samples& samples,
             const Setting& setting, const reference::Fit& expected) {
  const Dataset dataset = make_dataset(samples, context.dtype());
  if (!context.beyond(dataset, make_spec(setting)).empty()) return false;
  const OwnedSession session = context.open(dataset, make_spec(setting));
  const Trial trial = run_fit(*session, samples, setting);
  expect(trial.status.ok(), "{}: fit() failed: {}", where, status_message(trial.status));
  expect_reference_bits(where, samples.d, expected, trial);
  check_stop(where, setting, trial);
  return true;
}

// Reduces each cluster of the first assignment to a power of two of samples.
Samples trimmed(const Samples& samples, const std::vector<double>& centroids) {
  const auto k = static_cast<std::int64_t>(centroids.size()) / samples.d;
  std::vector<std::vector<std::int64_t>> rows(k);
  for (std::int64_t i = 0; i < samples.n; ++i) {
    rows[reference::nearest(samples.row(i), centroids, samples.d)].push_back(i);
  }
  std::vector<bool> keep(samples.n, false);
  for (const auto& cluster : rows) {
    const auto size = static_cast<std::uint64_t>(cluster.size());
    const auto wanted = std::min<std::uint64_t>(std::bit_floor(size), kLargestCount);
    for (std::uint64_t at = 0; at < wanted; ++at) keep[cluster[at]] = true;
  }
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < samples.n; ++i) {
    if (keep[i]) kept.push_back(i);
  }
  return selected(samples, kept);
}

// One update from integer centroids, and the closing assignment to means over powers of two.
void one_iteration(const Context& context) {
  bool any = false;
  for (const std::int64_t d : {1, 2, 3, 5, 7, 8}) {
    for (const std::int64_t k : {1, 2, 3, 7, 16, 31}) {
      const Samples all = lattice(40 * k, d, kExtent, static_cast<std::uint64_t>(100 * d + k));
      Setting setting;
      setting.clusters = k;
      setting.centroids = first_rows(all, k);
      setting.max_iterations = 1;
      setting.fixed = true;
      const Samples samples = trimmed(all, setting.centroids);
      const reference::Fit expected = reference::fit(samples, reference_settings(setting));
      expect(exact_everywhere(expected, kLargestCount),
             "the case's own data is not exact: d={} k={}", d, k);
      any |= compare(context, describe("lattice", samples, setting), samples, setting, expected);
    }
  }
  if (!any) throw CaseSkipped{"all sizes are beyond the backend: " + context.refusal()};
}

struct ExactFit {
  Samples samples;
  Setting setting;
  reference::Fit expected;
};

// Small fits of several iterations, selected from random ones because they are exact throughout.
// Values are multiples of 12, so that clusters of 1, 2, 3, 4, 6 or 8 samples have means with few
// digits.
std::vector<ExactFit> exact_fits() {
  constexpr std::size_t kWanted = 12;
  std::vector<ExactFit> fits;
  for (std::uint64_t seed = 0; seed < 5000 && fits.size() < kWanted; ++seed) {
    Numbers numbers(seed);
    const std::int64_t k = numbers.integer(2, 5);
    Setting setting;
    const Samples samples =
        transformed(lattice(4 * k, numbers.integer(1, 3), kExtent, seed), 12, 0);
    setting.clusters = k;
    setting.centroids = first_rows(samples, k);
    setting.max_iterations = 10;
    setting.fixed = seed % 2 == 0;
    setting.empty = EmptyClusters::relocate;
    reference::Fit expected = reference::fit(samples, reference_settings(setting));
    // Selects fits in which at least two assignments after the first change labels.
    if (expected.iterations < 3 || expected.trace[2].changed == 0) continue;
    // A backend may refuse to relocate.
    const bool relocates = std::any_of(expected.trace.begin(), expected.trace.end(),
                                       [](const auto& one) { return one.relocations > 0; });
    if (!relocates) setting.empty = EmptyClusters::keep;
    if (exact_everywhere(expected, 4)) fits.push_back({samples, setting, std::move(expected)});
  }
  expect(fits.size() == kWanted, "the case's own data: only {} exact fits found", fits.size());
  return fits;
}

void whole_fit(const Context& context) {
  bool any = false;
  for (const auto& [samples, setting, expected] :
       computed_once<std::vector<ExactFit>>(context.dtype(), "exact fits", exact_fits)) {
    any |= compare(context, describe("lattice fit", samples, setting), samples, setting, expected);
  }
  if (!any) throw CaseSkipped{"all sizes are beyond the backend: " + context.refusal()};
}

// Samples equidistant from centroids, and equal centroids: the lowest index wins.
void lattice_ties(const Context& context) {
  Samples samples{16, 1, {}};
  for (int i = 0; i < 16; ++i) samples.values.push_back(i % 8);
  Setting setting;
  setting.clusters = 6;
  setting.centroids = {6, 2, 2, 4, 6, 0};
  setting.max_iterations = 1;
  setting.fixed = true;
  const std::vector<std::int32_t> row{5, 1, 1, 1, 3, 0, 0, 0};
  std::vector<std::int32_t> expected = row;
  expected.insert(expected.end(), row.begin(), row.end());
  const Trial trial = fresh_fit(context, samples, setting);
  expect(trial.trace.size() == 1, "{} iterations observed, expected 1", trial.trace.size());
  expect_same_labels("ties, iteration 1", expected, trial.trace[0].labels);
  expect_reference_bits("ties", samples, setting, trial);
}

}  // namespace

void add_lattice_cases(std::vector<Case>& cases) {
  cases.push_back({"lattice/one-iteration", Scope::variants, one_iteration, true});
  cases.push_back({"lattice/whole-fit", Scope::variants, whole_fit});
  cases.push_back({"lattice/ties", Scope::variants, lattice_ties});
}

}  // namespace lloyd::conformance
