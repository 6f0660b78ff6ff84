// Policies for empty clusters. The data are small integers, so every backend must match the
// reference bit for bit; the expected results are also written by hand.
#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"

namespace lloyd::conformance {
namespace {

Samples line(std::vector<double> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return {n, 1, std::move(values)};
}

Setting one_iteration(std::vector<double> centroids, EmptyClusters policy) {
  Setting setting;
  setting.clusters = static_cast<std::int64_t>(centroids.size());
  setting.centroids = std::move(centroids);
  setting.max_iterations = 1;
  setting.empty = policy;
  return setting;
}

// Expects that one iteration from `start` gives `expected` after `relocations` relocations.
void expect_update(const Context& context, const char* name, const Samples& samples,
                   const std::vector<double>& start, EmptyClusters policy,
                   const std::vector<double>& expected, std::int64_t relocations) {
  const Setting setting = one_iteration(start, policy);
  const Trial trial = fresh_fit(context, samples, setting);
  const std::string where = describe(name, samples, setting);
  expect(trial.result.relocations == relocations, "{}: {} relocations, expected {}", where,
         trial.result.relocations, relocations);
  expect_same(where, samples.d, expected, trial.centroids);
  expect_reference_bits(where, samples, setting, trial);
}

// Compares the parts of a record that `run` observes.
void expect_same_record(const std::string& where, std::int64_t d, const Run& run,
                        const Observed& expected, const Observed& got) {
  expect(got.record.changed == expected.record.changed, "{}: changed is {}, expected {}", where,
         got.record.changed, expected.record.changed);
  expect(got.record.relocations == expected.record.relocations, "{}: {} relocations, expected {}",
         where, got.record.relocations, expected.record.relocations);
  expect_same(where, "the shift", expected.record.shift, got.record.shift);
  if ((run.observe & kObserveInertia) != 0) {
    expect_same(where, "the inertia", expected.record.inertia, got.record.inertia);
  }
  if ((run.observe & kObserveCentroids) != 0) {
    expect_same(where, d, expected.centroids, got.centroids);
  }
}

constexpr double kAway = 100;  // far from all samples, so the cluster is empty

void relocate(const Context& context) {
  const auto policy = EmptyClusters::relocate;
  // Sample 9 leaves its cluster; the remaining ones have the mean 2.
  expect_update(context, "one empty cluster", line({0, 1, 2, 5, 9}), {0, kAway}, policy, {2, 9}, 1);
  expect_update(context, "a tie goes to the lower row", line({-4, 4, 0, 0, 4}), {0, kAway}, policy,
                {2, -4}, 1);
  expect_update(context, "two empty clusters in index order", line({0, 0, 1, 1, 6, 7}),
                {kAway, 0, 2 * kAway}, policy, {7, 0.5, 6}, 2);
}

void relocate_spares_single_samples(const Context& context) {
  const auto policy = EmptyClusters::relocate;
  // Row 0 is the farthest (5 from its centroid 25), but the only member of its cluster; row 5 is
  // next.
  expect_update(context, "the only member stays", line({30, 0, 0, 0, 1, 3}), {0, 25, kAway}, policy,
                {0.25, 30, 3}, 1);
  // Cluster 1 has two samples; after one has been taken, the other must stay.
  expect_update(context, "the last member stays", line({0, 1, 20, 22}), {0, 26, kAway, 2 * kAway},
                policy, {0, 22, 20, 1}, 2);
}

void relocate_never_at_distance_zero(const Context& context) {
  const auto policy = EmptyClusters::relocate;
  expect_update(context, "all samples on centroids", line({0, 0, 4, 4}), {0, 4, kAway}, policy,
                {0, 4, kAway}, 0);
  expect_update(context, "one sample off, two empty", line({0, 0, 0, 4}), {0, kAway, 2 * kAway},
                policy, {0, 4, 2 * kAway}, 1);
}

// After a relocation all samples return to their own centroids, so labels change at the next
// assignment; the trace must equal the reference's.
void relocate_and_go_on(const Context& context) {
  const Samples samples = line({0, 0, 2, 2, 16, 16, 18, 18, 32, 32, 34, 34});
  Setting setting = one_iteration({1, kAway, 2 * kAway}, EmptyClusters::relocate);
  setting.max_iterations = 20;
  const Trial trial = fresh_fit(context, samples, setting);
  const reference::Fit expected = reference::fit(samples, reference_settings(setting));
  expect(expected.trace[0].relocations == 2 && expected.iterations > 2,
         "the case's own data does not relocate and go on");
  check_trace(context, "relocate and go on", samples, setting, trial);
  check_stop("relocate and go on", setting, trial);
}

// Many empty clusters, ties and shared donors, in several features.
void relocate_many(const Context& context) {
  std::vector<NamedFit> fits;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    NamedFit fit{"many empty clusters", lattice(60, 2, 4, seed), {}};
    fit.setting = one_iteration(first_rows(fit.samples, 6), EmptyClusters::relocate);
    for (int away = 1; away <= 6; ++away) {
      fit.setting.centroids.insert(fit.setting.centroids.begin() + 4 * (away - 1),
                                   {away * kAway, -away * kAway});
    }
    fit.setting.clusters = 12;
    fit.setting.max_iterations = 4;
    fits.push_back(std::move(fit));
  }
  // verify_fits() would keep empty clusters if the backend does not relocate them.
  const Dataset dataset = make_dataset(fits[0].samples, context.dtype());
  const std::string reason = context.beyond(dataset, make_spec(fits[0].setting));
  if (!reason.empty()) throw CaseSkipped{reason};
  verify_fits(context, fits);
}

// More samples are equally far than are wanted, and far more than a device may sort: those of the
// smallest rows move. Rows 0 to 99 are on the centroid, rows 15000 and 17000 are farthest, and all
// others are at distance 1.
void relocate_ties_at_the_edge(const Context& context) {
  constexpr std::int64_t kRows = 20000;
  std::vector<double> values(kRows, 0.0);
  for (std::size_t row = 100; row < values.size(); ++row) values[row] = row % 2 == 0 ? -1 : 1;
  values[15000] = 2;
  values[17000] = -2;
  expect_update(context, "ties at the edge", line(std::move(values)),
                {0, kAway, 2 * kAway, 3 * kAway, 4 * kAway, 5 * kAway}, EmptyClusters::relocate,
                {3.0 / (kRows - 5), 2, -2, -1, 1, -1}, 5);
}

// Squared distances differ only after their first 12 significant bits, and more samples are at all
// of them than a device may sort: those at the largest, in the order of their rows, move.
void relocate_close_distances(const Context& context) {
  constexpr std::size_t kRows = 20000;
  constexpr std::size_t kDistances = 512;
  constexpr std::int64_t kClusters = 60;
  std::vector<double> values;
  for (std::size_t row = 0; row < kRows; ++row) {
    values.push_back(1 + static_cast<double>(row % kDistances) * 0x1p-23);
  }
  const Samples samples = line(std::move(values));
  std::vector<double> centroids = {0};
  for (std::int64_t away = 1; away < kClusters; ++away)
    centroids.push_back(kAway + static_cast<double>(away));
  Setting setting = one_iteration(centroids, EmptyClusters::relocate);
  setting.clusters = kClusters;
  const Trial trial = fresh_fit(context, samples, setting);
  expect(trial.result.relocations == kClusters - 1, "{} relocations", trial.result.relocations);
  expect_reference_bits(describe("close distances", samples, setting), samples, setting, trial);
}

// The second iteration changes no label, but relocates a cluster: the fit goes on.
void relocate_without_changes(const Context& context) {
  const Samples samples = line({6, 6, 100, 102});
  Setting setting = one_iteration({0, 500, 101}, EmptyClusters::relocate);
  setting.clusters = 3;
  setting.max_iterations = 10;
  const std::string where = describe("without changes", samples, setting);
  const reference::Fit expected = reference::fit(samples, reference_settings(setting));
  expect(expected.trace.size() > 2 && expected.trace[1].changed == 0 &&
             expected.trace[1].relocations > 0,
         "{}: the second iteration of the reference changes labels or relocates nothing", where);
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, make_spec(setting));
  for (const std::uint32_t observe : {kObserveAll, std::uint32_t{kObserveCentroids}, 0u}) {
    Run run;
    run.observe = observe;
    const Trial trial = run_fit(*session, samples, setting, run);
    expect(trial.status.ok(), "{}: fit() failed: {}", where, status_message(trial.status));
    expect(trial.result.iterations == static_cast<std::int64_t>(expected.trace.size()),
           "{}, observe = {:#x}: {} iterations, expected {}", where, observe,
           trial.result.iterations, expected.trace.size());
  }
}

// The farthest two are the only members of their clusters, and cluster 3 has one sample to give:
// those that move are the third, fifth and sixth of the farthest.
void relocate_skips_exhausted_clusters(const Context& context) {
  expect_update(context, "exhausted clusters", line({50, 0, 206, 3, 80, 205, 2, 1, 0}),
                {0, 40, 72, 200, 10 * kAway, 20 * kAway, 30 * kAway}, EmptyClusters::relocate,
                {1.0 / 3, 50, 80, 205, 206, 3, 2}, 3);
}

// Three samples at a distance > 0 for five empty clusters; one of them is the last of its cluster.
void relocate_runs_out_of_samples(const Context& context) {
  expect_update(context, "three candidates, five empty", line({0, 0, -3, 0, 4, 60, 0}),
                {kAway, 0, 2 * kAway, 3 * kAway, 50, 4 * kAway, 5 * kAway}, EmptyClusters::relocate,
                {4, 0, -3, 3 * kAway, 60, 4 * kAway, 5 * kAway}, 2);
}

// More clusters, and more empty ones, than a device handles at once.
void relocate_thousands(const Context& context) {
  constexpr std::int64_t kHalf = 2100;
  const Samples samples = lattice(6000, 2, 100, 9);
  std::vector<double> centroids = first_rows(samples, kHalf);
  for (int away = 1; away <= kHalf; ++away) {
    centroids.insert(centroids.end(), {10 * kAway + away, 10 * kAway});
  }
  Setting setting = one_iteration(centroids, EmptyClusters::relocate);
  setting.clusters = 2 * kHalf;
  const Trial trial = fresh_fit(context, samples, setting);
  expect(trial.result.relocations > kHalf / 2, "{} relocations", trial.result.relocations);
  expect_reference_bits(describe("thousands of clusters", samples, setting), samples, setting,
                        trial);
}

// Clusters become empty in several iterations of a fit. Its results and records do not depend on
// what is observed, for which a device may finish iterations in different ways.
void relocate_in_each_mode(const Context& context) {
  for (const std::uint64_t seed : {0, 7, 17, 21, 26}) {
    const Samples samples = lattice(40, 2, 1, seed);
    Setting setting = one_iteration(first_rows(samples, 8), EmptyClusters::relocate);
    setting.clusters = 8;
    setting.max_iterations = 6;
    const Dataset dataset = make_dataset(samples, context.dtype());
    const OwnedSession session = context.open(dataset, make_spec(setting));
    for (const bool fixed : {false, true}) {
      setting.fixed = fixed;
      const std::string where = describe("relocate in each mode", samples, setting);
      const reference::Fit expected = reference::fit(samples, reference_settings(setting));
      std::int64_t relocating = 0;
      for (const auto& iteration : expected.trace) relocating += iteration.relocations > 0 ? 1 : 0;
      expect(relocating > 1, "{}: {} iterations relocate", where, relocating);
      const Trial all = run_fit(*session, samples, setting);
      expect(all.status.ok(), "{}: fit() failed: {}", where, status_message(all.status));
      check_trace(context, where, samples, setting, all);
      check_stop(where, setting, all);
      if (context.canonical()) expect_reference_bits(where, samples, setting, all);
      for (const Run& run : {Run{kObserveAll & ~kObserveLabels}, Run{kObserveIterations}, Run{0},
                             Run{kObserveAll, true}, Run{0, true}}) {
        const std::string mode =
            fmt::format("{}, observe = {:#x}, profile = {}", where, run.observe, run.profile);
        const Trial trial = run_fit(*session, samples, setting, run);
        expect(trial.status.ok(), "{}: fit() failed: {}", mode, status_message(trial.status));
        const std::size_t records = run.observe != 0 ? all.trace.size() : 0;
        expect(trial.trace.size() == records || !context.repeatable(),
               "{}: {} records, expected {}", mode, trial.trace.size(), records);
        if (!context.repeatable()) continue;
        expect_same_fit(mode, samples.d, all, trial);
        for (std::size_t t = 0; t < trial.trace.size(); ++t) {
          expect_same_record(fmt::format("{}, iteration {}", mode, t + 1), samples.d, run,
                             all.trace[t], trial.trace[t]);
        }
      }
    }
  }
}

// Several empty clusters take samples from the same cluster, in descending order of distance.
void relocate_drains_in_order(const Context& context) {
  expect_update(context, "three from one", line({0, 0, 10, 12, 11, 0, 0}),
                {kAway, 2 * kAway, 0, 3 * kAway}, EmptyClusters::relocate, {12, 11, 0, 10}, 3);
}

void keep(const Context& context) {
  const auto policy = EmptyClusters::keep;
  expect_update(context, "an empty cluster stays", line({0, 1, 2, 5}), {0, kAway}, policy,
                {2, kAway}, 0);
  const Samples samples = line({0, 0, 4, 4});
  Setting setting = one_iteration({0, kAway, 4}, policy);
  setting.max_iterations = 10;
  const Trial trial = fresh_fit(context, samples, setting);
  expect(trial.result.stop_reason == StopReason::labels && trial.result.iterations == 2,
         "with an empty cluster kept the fit took {} iterations and stopped by '{}'; expected 2 "
         "and 'labels'",
         trial.result.iterations, to_string(trial.result.stop_reason));
  expect_same_counts("an empty cluster is kept", {2, 0, 2}, trial.counts);
}

void error(const Context& context) {
  const Samples samples = line({0, 1, 2, 5});
  const Dataset dataset = make_dataset(samples, context.dtype());
  const Setting empty = one_iteration({0, kAway}, EmptyClusters::error);
  const OwnedSession session = context.open(dataset, make_spec(empty));
  const Trial failed = run_fit(*session, samples, empty);
  expect(failed.status.code == StatusCode::empty_cluster,
         "status '{}' ({}) for an empty cluster under the policy 'error', expected '{}'",
         name_of(failed.status.code), status_message(failed.status),
         name_of(StatusCode::empty_cluster));
  expect(failed.status.message[0] != '\0', "the status of an empty cluster has no message");
  // The session stays usable, and the policy `error` has no effect if no cluster is empty.
  const Setting filled = one_iteration({0, 5}, EmptyClusters::error);
  const Trial trial = run_fit(*session, samples, filled);
  expect(trial.status.ok(), "a fit without empty clusters failed under the policy 'error': {}",
         status_message(trial.status));
  expect_same("policy 'error' without an empty cluster", 1, {1, 5}, trial.centroids);
}

}  // namespace

void add_empty_cluster_cases(std::vector<Case>& cases) {
  cases.push_back({"empty/relocate", Scope::variants, relocate});
  cases.push_back(
      {"empty/relocate-spares-single-samples", Scope::variants, relocate_spares_single_samples});
  cases.push_back(
      {"empty/relocate-never-at-distance-zero", Scope::variants, relocate_never_at_distance_zero});
  cases.push_back({"empty/relocate-drains-in-order", Scope::variants, relocate_drains_in_order});
  cases.push_back({"empty/relocate-and-go-on", Scope::variants, relocate_and_go_on});
  cases.push_back({"empty/relocate-many", Scope::variants, relocate_many});
  cases.push_back({"empty/relocate-ties-at-the-edge", Scope::variants, relocate_ties_at_the_edge});
  cases.push_back({"empty/relocate-close-distances", Scope::variants, relocate_close_distances});
  cases.push_back({"empty/relocate-without-changes", Scope::variants, relocate_without_changes});
  cases.push_back({"empty/relocate-skips-exhausted-clusters", Scope::variants,
                   relocate_skips_exhausted_clusters});
  cases.push_back(
      {"empty/relocate-runs-out-of-samples", Scope::variants, relocate_runs_out_of_samples});
  cases.push_back({"empty/relocate-thousands", Scope::defaults, relocate_thousands});
  cases.push_back({"empty/relocate-in-each-mode", Scope::variants, relocate_in_each_mode});
  cases.push_back({"empty/keep", Scope::variants, keep});
  cases.push_back({"empty/error", Scope::variants, error});
}

}  // namespace lloyd::conformance
