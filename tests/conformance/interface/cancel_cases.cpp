// Cancelled fits.
#include <atomic>
#include <chrono>
#include <cstdint>

#include <lloyd/fit.hpp>

#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"

namespace lloyd::conformance {
namespace {

struct CancelProblem {
  explicit CancelProblem(const Context& context)
      : samples(rounded(cloud(900, 3, 51), context.dtype())),
        dataset(make_dataset(samples, context.dtype())),
        session(context.open(dataset, 5)) {
    setting.clusters = 5;
    setting.centroids = first_rows(samples, 5);
    setting.fixed = true;
  }

  Recorder recorder() const { return {samples.n, 5 * samples.d}; }

  Samples samples;
  Dataset dataset;
  OwnedSession session;
  Setting setting;
};

// A cancelled result holds the centroids of the last finished iteration, and the mask of valid
// outputs covers no others.
void check_cancelled(const Context& context, const std::string& where, const Samples& samples,
                     const Setting& setting, const Trial& trial) {
  expect(trial.status.code == StatusCode::cancelled, "{}: the status is '{}' ({}), expected '{}'",
         where, name_of(trial.status.code), status_message(trial.status),
         name_of(StatusCode::cancelled));
  expect(trial.result.stop_reason == StopReason::cancelled, "{}: the stop reason is '{}'", where,
         to_string(trial.result.stop_reason));
  expect((trial.result.valid & kValidCentroids) != 0, "{}: the centroids are not valid", where);
  const auto observed = static_cast<std::int64_t>(trial.trace.size());
  expect(trial.result.iterations == observed, "{}: {} iterations reported, {} observed", where,
         trial.result.iterations, observed);
  const auto& centroids = trial.trace.empty() ? setting.centroids : trial.trace.back().centroids;
  expect_same(where + ", centroids of the last finished iteration", samples.d, centroids,
              trial.centroids);
  if ((trial.result.valid & kValidLabels) == 0) return;
  check_labels(context, where, samples, trial.centroids, trial.labels);
  if ((trial.result.valid & kValidCounts) != 0) check_counts(where, trial.labels, trial.counts);
  if ((trial.result.valid & kValidInertia) != 0) {
    check_inertia(where, samples, trial.centroids, trial.labels, trial.result.inertia);
  }
}

void expect_session_goes_on(const Context& context, const CancelProblem& p) {
  Setting setting = p.setting;
  setting.max_iterations = 3;
  const Trial again = run_fit(*p.session, p.samples, setting);
  expect(again.status.ok(), "a fit after a cancelled one failed: {}", status_message(again.status));
  check_trace(context, "after a cancelled fit", p.samples, setting, again);
  check_closing(context, "after a cancelled fit", p.samples, again);
}

// Cancels by returning false from on_iteration().
void at_iteration(const Context& context) {
  CancelProblem p(context);
  p.setting.max_iterations = 6;
  for (const std::int64_t iteration : {1, 3, 6}) {
    Recorder recorder = p.recorder();
    recorder.refuse_at = iteration;
    const Trial trial = run_fit(*p.session, p.samples, p.setting, recorder);
    const std::string where = fmt::format("on_iteration returned false in {}", iteration);
    check_cancelled(context, where, p.samples, p.setting, trial);
    expect(trial.result.iterations == iteration, "{}: {} iterations", where,
           trial.result.iterations);
    expect_session_goes_on(context, p);
  }
}

// Cancels through stop_requested() while the fit runs.
void while_running(const Context& context) {
  CancelProblem p(context);
  p.setting.max_iterations = 20000;
  Recorder recorder = p.recorder();
  recorder.raise_at = 4;
  const Trial trial = run_fit(*p.session, p.samples, p.setting, recorder);
  check_cancelled(context, "stop_requested after iteration 4", p.samples, p.setting, trial);
  expect(trial.result.iterations >= 4, "{} iterations, though the request came after 4",
         trial.result.iterations);
  expect_session_goes_on(context, p);
}

void from_start(const Context& context) {
  CancelProblem p(context);
  p.setting.max_iterations = 20000;
  Recorder recorder = p.recorder();
  recorder.stop = true;
  const Trial trial = run_fit(*p.session, p.samples, p.setting, recorder);
  check_cancelled(context, "stop_requested from the start", p.samples, p.setting, trial);
  expect_session_goes_on(context, p);
}

class Deadline : public Observer {
 public:
  bool on_iteration(const IterationRecord&) noexcept override { return true; }
  bool stop_requested() const noexcept override { return Clock::now() > end_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_ = Clock::now() + std::chrono::milliseconds(10);
};

// Without iteration records the loop may run entirely on a device; it must still stop early.
void unobserved(const Context& context) {
  CancelProblem p(context);
  p.setting.max_iterations = 200000;
  Deadline deadline;
  Run run;
  run.observe = 0;
  run.observer = &deadline;
  const Trial trial = run_fit(*p.session, p.samples, p.setting, run);
  expect(trial.status.code == StatusCode::cancelled,
         "stop_requested after 10 ms: the status is '{}' after {} iterations",
         name_of(trial.status.code), trial.result.iterations);
  expect((trial.result.valid & kValidCentroids) != 0, "the centroids are not valid");
  expect(trial.result.iterations >= 0 && trial.result.iterations < p.setting.max_iterations,
         "cancelled, with {} iterations reported of {}", trial.result.iterations,
         p.setting.max_iterations);
  std::vector<double> expected = p.setting.centroids;
  if (trial.result.iterations > 0 && context.repeatable()) {
    Setting same = p.setting;
    same.max_iterations = trial.result.iterations;
    Run plain;
    plain.observe = 0;
    expected = run_fit(*p.session, p.samples, same, plain).centroids;
  }
  if (context.repeatable()) {
    expect_same(fmt::format("cancelled, against a fit of {} iterations", trial.result.iterations),
                p.samples.d, expected, trial.centroids);
  }
  expect_session_goes_on(context, p);
}

class PollCounter : public Observer {
 public:
  bool on_iteration(const IterationRecord&) noexcept override {
    polls_of_iteration_ = polls_.load();
    return true;
  }
  bool stop_requested() const noexcept override {
    polls_.fetch_add(1);
    return false;
  }
  /// Before the closing assignment.
  std::int64_t polls_of_iteration() const { return polls_of_iteration_; }

 private:
  mutable std::atomic<std::int64_t> polls_ = 0;
  std::int64_t polls_of_iteration_ = 0;
};

// True if the backend computes on a device: its host thread polls while it waits, so the number of
// polls depends on the time.
bool computes_on_device(const Context& context, const Dataset& dataset, const Setting& setting) {
  MemoryEstimate memory;
  const Status status =
      context.backend().estimate(make_shape(dataset, setting.clusters), context.parameters().list(),
                                 make_spec(setting, Run{0, false, nullptr}), memory);
  expect(status.ok(), "estimate() failed: {}", status_message(status));
  return memory.device_bytes > 0;
}

// A single iteration of a large data set must notice a request too, so the passes of a fit poll in
// proportion to the number of samples.
void polls(const Context& context) {
  constexpr std::int64_t kMaxRowsPerPoll = 32768;
  constexpr std::int64_t kPolls = 8;
  const Samples samples = rounded(cloud(kPolls * kMaxRowsPerPoll, 2, 52), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  Setting setting;
  setting.clusters = 3;
  setting.centroids = first_rows(samples, setting.clusters);
  setting.fixed = true;
  setting.max_iterations = 1;
  if (computes_on_device(context, dataset, setting)) {
    throw CaseSkipped{"a device is polled by time, not by samples"};
  }
  PollCounter counter;
  Run run;
  run.observe = kObserveIterations;
  run.observer = &counter;
  const OwnedSession session = context.open(dataset, setting.clusters);
  const Trial trial = run_fit(*session, samples, setting, run);
  expect(trial.status.ok(), "fit() failed: {}", status_message(trial.status));
  expect(counter.polls_of_iteration() >= kPolls,
         "one iteration of {} samples called stop_requested() {} times, at least {} are needed: "
         "once in {} samples, so that long iterations can be cancelled (a step: by blocks of at "
         "most as many rows)",
         samples.n, counter.polls_of_iteration(), kPolls, kMaxRowsPerPoll);
}

}  // namespace

void add_cancel_cases(std::vector<Case>& cases) {
  cases.push_back({"cancel/at-iteration", Scope::variants, at_iteration});
  cases.push_back({"cancel/while-running", Scope::variants, while_running});
  cases.push_back({"cancel/from-start", Scope::variants, from_start});
  cases.push_back({"cancel/unobserved", Scope::variants, unobserved});
  cases.push_back({"cancel/polls", Scope::defaults, polls});
}

}  // namespace lloyd::conformance
