// Iteration records; observation does not change results.
#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"

namespace lloyd::conformance {
namespace {

struct ObservedProblem {
  explicit ObservedProblem(const Context& context)
      : samples(rounded(cloud(1200, 3, 41), context.dtype())),
        dataset(make_dataset(samples, context.dtype())) {
    setting.clusters = 6;
    setting.centroids = first_rows(samples, 6);
    setting.max_iterations = 8;
  }

  Samples samples;
  Dataset dataset;
  Setting setting;
};

void nothing(const Context& context) {
  const ObservedProblem p(context);
  const OwnedSession session = context.open(p.dataset, 6);
  const Trial all = run_fit(*session, p.samples, p.setting);
  expect(all.status.ok(), "an observed fit failed: {}", status_message(all.status));
  Recorder recorder(p.samples.n, 6 * p.samples.d);
  Run run;
  run.observe = 0;
  run.observer = &recorder;
  const Trial observed = run_fit(*session, p.samples, p.setting, run);
  expect(observed.status.ok(), "a fit with observe = 0 failed: {}",
         status_message(observed.status));
  expect(recorder.trace.empty(), "on_iteration was called {} times though nothing was wanted",
         recorder.trace.size());
  run.observer = nullptr;
  const Trial alone = run_fit(*session, p.samples, p.setting, run);
  expect(alone.status.ok(), "a fit without an observer failed: {}", status_message(alone.status));
  check_closing(context, "observe = 0", p.samples, observed);
  check_closing(context, "no observer", p.samples, alone);
  if (!context.repeatable()) return;
  expect_same_fit("observe = 0 against observing all", p.samples.d, all, observed);
  expect_same_fit("no observer against observing all", p.samples.d, all, alone);
}

void parts(const Context& context) {
  const ObservedProblem p(context);
  const OwnedSession session = context.open(p.dataset, 6);
  const Trial all = run_fit(*session, p.samples, p.setting);
  expect(all.status.ok(), "an observed fit failed: {}", status_message(all.status));
  for (const std::uint32_t wanted :
       {kObserveIterations, kObserveInertia, kObserveLabels, kObserveCentroids}) {
    Run run;
    run.observe = wanted;
    const Trial part = run_fit(*session, p.samples, p.setting, run);
    const std::string where = fmt::format("observe = {:#x}", wanted);
    expect(part.status.ok(), "{}: fit() failed: {}", where, status_message(part.status));
    const auto observed = static_cast<std::int64_t>(part.trace.size());
    expect(observed == part.result.iterations, "{}: {} iterations observed, {} reported", where,
           observed, part.result.iterations);
    for (std::size_t t = 0; t < part.trace.size(); ++t) {
      const Observed& got = part.trace[t];
      const std::string at = fmt::format("{}, iteration {}", where, t + 1);
      expect(got.record.iteration == static_cast<std::int64_t>(t) + 1, "{}: the record says {}", at,
             got.record.iteration);
      expect(got.labels.empty() != (wanted == kObserveLabels), "{}: {} labels", at,
             got.labels.size());
      expect(got.centroids.empty() != (wanted == kObserveCentroids), "{}: {} centroid values", at,
             got.centroids.size());
      if (!context.repeatable()) continue;
      expect(t < all.trace.size(), "{}: observing all, a fit has {} iterations", at,
             all.trace.size());
      const Observed& expected = all.trace[t];
      if (wanted == kObserveIterations) {
        expect(got.record.changed == expected.record.changed, "{}: changed is {}, expected {}", at,
               got.record.changed, expected.record.changed);
        expect_same(at, "the shift", expected.record.shift, got.record.shift);
      }
      if (wanted == kObserveInertia) {
        expect_same(at, "the inertia", expected.record.inertia, got.record.inertia);
      }
      if (wanted == kObserveLabels) expect_same_labels(at, expected.labels, got.labels);
      if (wanted == kObserveCentroids) {
        expect_same(at, p.samples.d, expected.centroids, got.centroids);
      }
    }
    if (context.repeatable()) expect_same_fit(where, p.samples.d, all, part);
  }
}

void expect_same_records(const std::string& where, const Samples& samples,
                         const std::vector<Observed>& expected, const std::vector<Observed>& got,
                         std::uint32_t observed) {
  expect(got.size() <= expected.size(), "{}: {} iterations observed, expected {}", where,
         got.size(), expected.size());
  for (std::size_t t = 0; t < got.size(); ++t) {
    const std::string at = fmt::format("{}, iteration {}", where, t + 1);
    const IterationRecord &has = got[t].record, &wants = expected[t].record;
    expect(has.changed == wants.changed, "{}: changed is {}, expected {}", at, has.changed,
           wants.changed);
    expect_same(at, "the shift", wants.shift, has.shift);
    if ((observed & kObserveInertia) != 0)
      expect_same(at, "the inertia", wants.inertia, has.inertia);
    if ((observed & kObserveCentroids) != 0) {
      expect_same(at, samples.d, expected[t].centroids, got[t].centroids);
    }
  }
}

// Without observed labels, a device may run ahead of the observer. Records must still be those of
// each iteration, also after a cancellation.
void check_long_fit(const Context& context, const Samples& samples, std::int64_t clusters) {
  const Dataset dataset = make_dataset(samples, context.dtype());
  Setting setting;
  setting.clusters = clusters;
  setting.centroids = first_rows(samples, clusters);
  setting.max_iterations = 44;
  setting.fixed = true;
  const OwnedSession session = context.open(dataset, clusters);
  const Trial all = run_fit(*session, samples, setting);
  expect(all.status.ok(), "an observed fit failed: {}", status_message(all.status));
  for (const std::uint32_t observed : {kObserveIterations, kObserveInertia | kObserveCentroids}) {
    Run run;
    run.observe = observed;
    const auto run_cancelled = [&](const std::string& where, Recorder& recorder) {
      const Trial trial = run_fit(*session, samples, setting, recorder, run);
      expect(trial.status.code == StatusCode::cancelled, "{}: {}", where,
             status_message(trial.status));
      const auto iterations = static_cast<std::size_t>(trial.result.iterations);
      expect(trial.trace.size() == iterations, "{}: {} iterations reported, {} observed", where,
             iterations, trial.trace.size());
      if (!context.repeatable()) return iterations;
      expect_same_records(where, samples, all.trace, trial.trace, observed);
      expect_same(where + ", centroids", samples.d, all.trace[iterations - 1].centroids,
                  trial.centroids);
      return iterations;
    };
    const std::string where = fmt::format("observe = {:#x}", observed);
    const Trial whole = run_fit(*session, samples, setting, run);
    expect(whole.status.ok(), "{}: fit() failed: {}", where, status_message(whole.status));
    check_closing(context, where, samples, whole);
    if (context.repeatable()) {
      expect_same_fit(where, samples.d, all, whole);
      expect_same_records(where, samples, all.trace, whole.trace, observed);
    }
    for (const std::int64_t iteration : {1, 9, 33}) {
      const std::string when = fmt::format("{}, cancelled after iteration {}", where, iteration);
      Recorder refusing(samples.n, clusters * samples.d);
      refusing.refuse_at = iteration;
      const auto refused = static_cast<std::int64_t>(run_cancelled(when, refusing));
      expect(refused == iteration, "{}: {} iterations", when, refused);
    }
    Recorder stopping(samples.n, clusters * samples.d);
    stopping.raise_at = 35;
    run_cancelled(where + ", stop_requested after iteration 35", stopping);
  }
}

void long_fit(const Context& context) {
  check_long_fit(context, rounded(cloud(701, 3, 42), context.dtype()), 20);
  // More than 2^14 values of centroids.
  check_long_fit(context, rounded(cloud(61, 280, 43), context.dtype()), 60);
}

// Profiling may cost time, but changes no bit of the result.
void profile(const Context& context) {
  const ObservedProblem p(context);
  const OwnedSession session = context.open(p.dataset, 6);
  const Trial plain = run_fit(*session, p.samples, p.setting);
  Run run;
  run.profile = true;
  const Trial profiled = run_fit(*session, p.samples, p.setting, run);
  expect(profiled.status.ok(), "a profiled fit failed: {}", status_message(profiled.status));
  check_trace(context, "profile", p.samples, p.setting, profiled);
  check_closing(context, "profile", p.samples, profiled);
  const PhaseTimes& phases = profiled.result.phases;
  expect(phases.transfer_ms >= 0 || phases.assignment_ms >= 0 || phases.update_ms >= 0 ||
             phases.convergence_ms >= 0,
         "a profiled fit measured no phase");
  if (context.repeatable()) expect_same_fit("profile", p.samples.d, plain, profiled);
}

// Times, the number of distances and that of exact fallbacks are reported.
void accounts(const Context& context) {
  const ObservedProblem p(context);
  const OwnedSession session = context.open(p.dataset, 6);
  const Trial trial = run_fit(*session, p.samples, p.setting);
  expect(trial.status.ok(), "fit() failed: {}", status_message(trial.status));
  expect(trial.result.loop_ms >= 0, "loop_ms is {}", trial.result.loop_ms);
  expect(trial.result.closing_ms >= 0, "closing_ms is {}", trial.result.closing_ms);
  // Assigning n samples takes at least n distances.
  expect(trial.result.distances >= p.samples.n, "distances is {} for {} samples and {} iterations",
         trial.result.distances, p.samples.n, trial.result.iterations);
  // Each pass labels each sample once; a negative number means that the backend does not screen.
  const std::int64_t labels = p.samples.n * (trial.result.iterations + 1);
  expect(trial.result.exact_fallbacks <= labels,
         "exact_fallbacks is {}, but {} iterations and the closing assignment give {} labels",
         trial.result.exact_fallbacks, trial.result.iterations, labels);
  expect(!trial.trace.empty(), "the observer was not called");
  const double last = trial.trace.back().record.elapsed_ms;
  expect(last <= trial.result.loop_ms, "the last record's elapsed time {} exceeds loop_ms {}", last,
         trial.result.loop_ms);
}

}  // namespace

void add_observer_cases(std::vector<Case>& cases) {
  cases.push_back({"observe/nothing", Scope::variants, nothing});
  cases.push_back({"observe/parts", Scope::variants, parts});
  cases.push_back({"observe/long-fit", Scope::variants, long_fit});
  cases.push_back({"observe/profile", Scope::variants, profile});
  cases.push_back({"observe/accounts", Scope::variants, accounts});
}

}  // namespace lloyd::conformance
