// DeviceLoop: the iterations of a fit, and its closing assignment.
#include <algorithm>
#include <thread>
#include <utility>

#include <lloyd/plugin/sdk/guard.hpp>

#include "cuda/loop/loop_passes.hpp"

namespace lloyd_cuda {

using lloyd::FinishedIterations;
using lloyd::FitResult;
using lloyd::FitSpec;
using lloyd::Observer;

namespace {

// Iterations that the host enqueues ahead of the device: enough to keep it busy, but few enough
// that the kernels left over after a stop cost little.
constexpr std::int64_t kIterationsAhead = 16;
// The same if the ring holds no centroids, because iteration i + 2 overwrites those of iteration i
// before the host has fetched them; and if samples are streamed, because enqueueing an iteration
// then waits for the one before it.
constexpr std::int64_t kFewIterationsAhead = 2;
// Iterations of a graph: an even number, since iterations alternate between two buffers.
constexpr std::int64_t kGraphIterations = 8;
// Iterations before a graph is recorded, unless the last fit was the same.
constexpr std::int64_t kIterationsBeforeGraph = 16;

}  // namespace

template <class T>
void DeviceLoop<T>::fit(const FitSpec& spec, Observer* observer, FitResult& result) {
  prepare(spec.clusters, observer);
  result.sum_form = plan_.form;
  Passes passes(*this, spec, observer);
  lloyd::drive_fit(spec, observer, passes, result);
  results_ = static_cast<std::size_t>(state_.iterations % 2);
}

template <class T>
DeviceLoop<T>::Passes::Passes(DeviceLoop& loop, const FitSpec& spec, Observer* observer)
    : loop_(loop), spec_(spec) {
  mode_ = mode_of(loop, spec, observer != nullptr && spec.observe != 0);
  if (mode_ == Mode::reported) {
    ring_ = loop.prepare_report_ring((spec.observe & lloyd::kObserveInertia) != 0);
  }
  const bool results_are_kept = ring_.centroids != nullptr && !loop.step_.streams_samples();
  max_ahead_ =
      mode_ == Mode::unobserved || results_are_kept ? kIterationsAhead : kFewIterationsAhead;
  changes_wanted_ = mode_ != Mode::unobserved || spec.stop_rule == lloyd::StopRule::converge ||
                    loop.step_.sums_only_changes();
}

template <class T>
DeviceLoop<T>::Passes::~Passes() {
  if (closed_) return;
  lloyd::guarded([&] { loop_.raise_cancel(); });
  lloyd::guarded([&] { loop_.stream_.synchronize(); });
}

template <class T>
auto DeviceLoop<T>::Passes::mode_of(const DeviceLoop& loop, const FitSpec& spec, bool observed)
    -> Mode {
  if (spec.profile != 0 || !loop.plan_.is_integer()) return Mode::synchronous;
  if (!observed) return Mode::unobserved;
  return (spec.observe & lloyd::kObserveLabels) != 0 ? Mode::synchronous : Mode::reported;
}

template <class T>
void DeviceLoop<T>::Passes::begin() {
  const Clock::time_point start = Clock::now();
  loop_.start_from(spec_.initial_centroids);
  if (ring_.inertia_slots != nullptr) loop_.inertia_.clear(loop_.stream_);
  if (spec_.profile == 0) return;
  loop_.wait();
  transfer_ms_ += milliseconds_between(start, Clock::now());
}

template <class T>
void DeviceLoop<T>::Passes::assign() {
  if (loop_.poll_cancel()) lloyd::throw_cancelled();
  const std::int64_t iteration = loop_.state_.iterations;
  if (mode_ == Mode::synchronous) enqueue_assignment(iteration);
  if (mode_ == Mode::reported) enqueue_ahead(iteration);
}

template <class T>
double DeviceLoop<T>::Passes::inertia() {
  const std::int64_t iteration = loop_.state_.iterations;
  if (mode_ == Mode::reported) {
    wait_for(iteration);
    if (loop_.cancel_raised_ && report_of(iteration).iterations == 0) lloyd::throw_cancelled();
    const std::int64_t offset = iteration % ReportRing::kSlots * lloyd::ExactSum::kChunks;
    return exact_sum(loop_.inertias_.data() + offset).value();
  }
  begin_phase(Phase::none);
  loop_.inertia_.clear(loop_.stream_);
  loop_.measure(iteration, loop_.all_rows(), nullptr, loop_.inertia_.data());
  loop_.wait();
  loop_.fetch_state();
  if (loop_.cancelled()) lloyd::throw_cancelled();
  return loop_.inertia_.fetch(loop_.stream_).value();
}

template <class T>
FinishedIterations DeviceLoop<T>::Passes::update(std::int64_t) {
  const std::int64_t iteration = loop_.state_.iterations;
  relocations_ = 0;
  if (mode_ == Mode::unobserved) {
    if (loop_.state_.halt == kHaltNone) run_ahead();
    // An iteration in which a cluster is empty is an update of its own.
    if (loop_.state_.halt == kHaltEmpty && loop_.state_.iterations == iteration) finish_halted();
  } else if (mode_ == Mode::reported) {
    finish_reported(iteration);
  } else {
    finish_synchronously(iteration);
  }
  const std::int64_t finished = loop_.state_.iterations - iteration;
  if (finished == 0) {
    if (loop_.poll_cancel()) lloyd::throw_cancelled();
    throw lloyd::StatusError(lloyd::StatusCode::internal,
                             "the device stopped a fit that the host would continue");
  }
  return {finished, loop_.state_.last_changed, relocations_};
}

template <class T>
Pass DeviceLoop<T>::Passes::pass_of(std::int64_t iteration) const {
  Pass pass = loop_.pass_of(iteration, loop_.all_rows());
  if (iteration > 0) pass.former_centroids = loop_.centroids_[(iteration + 1) % 2].data();
  if (changes_wanted_) pass.changed = &loop_.device_state_.data()->changed;
  if (loop_.plan_.is_integer()) {
    pass.totals = loop_.finish_of(spec_, iteration).totals;
    pass.sums_only_changes = loop_.step_.sums_only_changes();
  }
  return pass;
}

template <class T>
IterationArguments DeviceLoop<T>::Passes::arguments_of(std::int64_t iteration) const {
  Finish finish = loop_.finish_of(spec_, iteration);
  finish.ring = ring_;
  return {pass_of(iteration), finish};
}

// The assignment of an iteration that the host waits for.
template <class T>
void DeviceLoop<T>::Passes::enqueue_assignment(std::int64_t iteration) {
  Pass pass = pass_of(iteration);
  if (spec_.profile != 0) pass.phases = &phases_;
  begin_phase(Phase::assignment);
  loop_.step_.assign(pass);
}

// The update of an iteration that the host waits for.
template <class T>
void DeviceLoop<T>::Passes::enqueue_update(std::int64_t iteration) {
  const Finish finish = loop_.finish_of(spec_, iteration);
  if (spec_.profile == 0) return enqueue_finish(finish, loop_.stream_);
  begin_phase(Phase::update);
  enqueue_means(finish, loop_.stream_);
  begin_phase(Phase::convergence);
  enqueue_decision(finish, loop_.stream_);
}

// An iteration that the device finishes without the host.
template <class T>
void DeviceLoop<T>::Passes::enqueue_iteration(std::int64_t iteration) {
  const auto [pass, finish] = arguments_of(iteration);
  if (mode_ == Mode::unobserved && loop_.step_.assign_and_finish(pass, finish)) return;
  loop_.step_.assign(pass);
  if (ring_.inertia_slots != nullptr) {
    loop_.measure(iteration, loop_.all_rows(), nullptr, ring_.inertia_sum);
  }
  enqueue_finish(finish, loop_.stream_);
}

// Enqueues one or more iterations from `first` on, at most kIterationsAhead. `finished`: iterations
// that the device has finished or, in an observed fit, the host. Returns how many it enqueued; 0 if
// enough are queued or max_iterations is reached.
template <class T>
std::int64_t DeviceLoop<T>::Passes::enqueue_iterations(std::int64_t first, std::int64_t finished) {
  const std::int64_t ahead = first - finished;
  if (first >= spec_.max_iterations || ahead >= max_ahead_) return 0;
  if (max_ahead_ < kIterationsAhead) {
    enqueue_iteration(first);
    return 1;
  }
  if (mode_ == Mode::unobserved && runs_in_one_launch_.value_or(true)) {
    if (ahead > kIterationsAhead / 2) return 0;
    const std::int64_t count = std::min(kIterationsAhead - ahead, spec_.max_iterations - first);
    runs_in_one_launch_ = loop_.step_.run_iterations(arguments_of(first), arguments_of(first + 1),
                                                     static_cast<int>(count));
    if (*runs_in_one_launch_) return count;
  }
  // A graph begins with an odd iteration. Iteration 0 is never part of one: it has no previous
  // centroids.
  if (first % 2 == 0 || !loop_.step_.repeats()) {
    enqueue_iteration(first);
    return 1;
  }
  const IterationArguments arguments = arguments_of(first);
  if (!loop_.graph_.matches(arguments)) {
    // Recording takes as long as some launches. It pays if the fit is long or is repeated.
    if (!repeats_last_fit_) {
      repeats_last_fit_ = std::exchange(loop_.last_arguments_, arguments) == arguments;
    }
    if (!*repeats_last_fit_ && first < kIterationsBeforeGraph) {
      enqueue_iteration(first);
      return 1;
    }
    loop_.graph_.record(arguments, loop_.stream_, [&] {
      for (std::int64_t i = 0; i < kGraphIterations; ++i) enqueue_iteration(first + i);
    });
  }
  if (ahead + kGraphIterations > kIterationsAhead) return 0;
  loop_.graph_.launch(loop_.stream_);
  return kGraphIterations;
}

// If the fit is profiled, attributes all work enqueued from now on to `phase`.
template <class T>
void DeviceLoop<T>::Passes::begin_phase(Phase phase) {
  if (spec_.profile != 0) phases_.begin(phase, loop_.stream_);
}

// Enqueues iterations until the device stops for any reason.
template <class T>
void DeviceLoop<T>::Passes::run_ahead() {
  std::int64_t enqueued = loop_.state_.iterations;
  for (;;) {
    const Progress progress = loop_.progress();
    if (progress.halted || loop_.poll_cancel()) break;
    const std::int64_t added = enqueue_iterations(enqueued, progress.iterations);
    enqueued += added;
    if (added == 0) {
      loop_.stream_.finished();  // throws if a kernel failed
      std::this_thread::yield();
    }
  }
  loop_.fetch_state();
}

// Keeps max_ahead_ iterations enqueued beyond the `finished` that the host has processed.
template <class T>
void DeviceLoop<T>::Passes::enqueue_ahead(std::int64_t finished) {
  enqueued_ = std::max(enqueued_, finished);
  for (;;) {
    // Clears the reports of all iterations that the next call may enqueue. The slot of the last
    // finished iteration stays.
    static_assert(ReportRing::kSlots > kIterationsAhead);
    for (std::int64_t i = enqueued_; i < finished + kIterationsAhead; ++i) {
      loop_.reports_[i % ReportRing::kSlots] = {};
    }
    const std::int64_t added = enqueue_iterations(enqueued_, finished);
    enqueued_ += added;
    if (added == 0 || loop_.progress().halted || loop_.poll_cancel()) return;
  }
}

// Waits until the device has reported an iteration or has halted before its end.
template <class T>
void DeviceLoop<T>::Passes::wait_for(std::int64_t iteration) {
  const auto reached = [&] {
    const Progress progress = loop_.progress();
    return progress.halted || progress.iterations > iteration;
  };
  // finished() throws if a kernel failed. If a report is missing although all work has finished,
  // update() fails.
  loop_.wait_until([&] { return reached() || loop_.stream_.finished(); });
}

// The report of an iteration after wait_for().
template <class T>
IterationReport DeviceLoop<T>::Passes::report_of(std::int64_t iteration) const {
  return loop_.reports_[iteration % ReportRing::kSlots];
}

// The slot of the centroids after `finished` > 0 iterations; null if they are not reported.
template <class T>
double* DeviceLoop<T>::Passes::reported_centroids(std::int64_t finished) const {
  if (ring_.centroids == nullptr) return nullptr;
  return loop_.reported_centroids_.data() + (finished - 1) % ReportRing::kSlots * loop_.cells();
}

// Finishes an iteration that enqueue_ahead() enqueued. Those after it may be running.
template <class T>
void DeviceLoop<T>::Passes::finish_reported(std::int64_t iteration) {
  wait_for(iteration);
  const IterationReport report = report_of(iteration);
  if (report.iterations > 0) {
    loop_.state_.iterations = report.iterations;
    loop_.state_.last_changed = report.changed;
    loop_.state_.shift = report.shift;
    return;
  }
  loop_.wait();
  loop_.fetch_state();
  loop_.state_.iterations = iteration;
  if (loop_.state_.halt != kHaltEmpty) return;  // cancelled, or an error that update() throws
  finish_halted();
  // The kernels of later iterations returned without doing work, so they must be enqueued again.
  enqueued_ = loop_.state_.iterations;
}

// Finishes the one iteration whose assignment is enqueued.
template <class T>
void DeviceLoop<T>::Passes::finish_synchronously(std::int64_t iteration) {
  if (loop_.plan_.is_integer()) enqueue_update(iteration);
  begin_phase(Phase::none);
  loop_.wait();
  loop_.fetch_state();
  phases_.collect();
  if (loop_.cancelled()) {
    loop_.state_.iterations = iteration;  // even if the device had finished it
    return;
  }
  if (loop_.state_.halt != kHaltEmpty && loop_.plan_.is_integer()) return;
  const Clock::time_point update_start = Clock::now();
  finish_halted();
  phases_.add(Phase::update, milliseconds_between(update_start, Clock::now()));
}

template <class T>
const std::int32_t* DeviceLoop<T>::Passes::labels() {
  labels_.resize(static_cast<std::size_t>(loop_.dataset_.samples));
  loop_.labels_.download(labels_.data(), loop_.dataset_.samples, loop_.stream_);
  loop_.stream_.synchronize();
  return labels_.data();
}

template <class T>
std::span<const double> DeviceLoop<T>::Passes::centroids() {
  const Clock::time_point start = Clock::now();
  fetch_centroids();
  // Like copies of labels, copies for an observer count towards no phase.
  if (closed_) transfer_ms_ += milliseconds_between(start, Clock::now());
  return centroids_;
}

// The centroids after the finished iterations. The device may be running further ones.
template <class T>
void DeviceLoop<T>::Passes::fetch_centroids() {
  const std::int64_t finished = loop_.state_.iterations;
  centroids_.resize(static_cast<std::size_t>(loop_.cells()));
  if (ring_.centroids != nullptr) {
    const double* const from =
        finished == 0 ? spec_.initial_centroids : reported_centroids(finished);
    std::copy_n(from, loop_.cells(), centroids_.data());
    return;
  }
  // At most the next iteration runs, which only reads these centroids.
  const bool is_running = mode_ == Mode::reported && enqueued_ > 0 && !closed_;
  const Stream& stream = is_running ? loop_.side_stream_ : loop_.stream_;
  loop_.centroids_[finished % 2].download(centroids_.data(), loop_.cells(), stream);
  stream.synchronize();
}

template <class T>
void DeviceLoop<T>::Passes::close(FitResult& result) {
  if (loop_.poll_cancel()) lloyd::throw_cancelled();
  const std::int64_t iteration = loop_.state_.iterations;
  loop_.state_.halt = kHaltNone;
  loop_.upload_state();
  Pass pass = loop_.pass_of(iteration, loop_.all_rows());
  if (iteration > 0) pass.former_centroids = loop_.centroids_[(iteration + 1) % 2].data();
  pass.changed = &loop_.device_state_.data()->changed;
  loop_.step_.assign(pass);
  const DeviceBuffer<unsigned long long>& counts = loop_.counts_[0];
  counts.fill_bytes(0, loop_.stream_);
  loop_.inertia_.clear(loop_.stream_);
  loop_.measure(iteration, loop_.all_rows(), counts.data(), loop_.inertia_.data());
  loop_.wait();
  loop_.fetch_state();
  loop_.state_.iterations = iteration;
  if (loop_.cancelled()) lloyd::throw_cancelled();
  closed_ = true;
  result.inertia = loop_.inertia_.fetch(loop_.stream_).value();
  result.valid |= lloyd::kValidInertia;
  if (result.labels != nullptr) {
    loop_.labels_.download(result.labels, loop_.dataset_.samples, loop_.stream_);
    result.valid |= lloyd::kValidLabels;
  }
  if (result.counts != nullptr) {
    loop_.fetch_counts(counts, result.counts);
    result.valid |= lloyd::kValidCounts;
  }
  loop_.stream_.synchronize();
}

template <class T>
void DeviceLoop<T>::Passes::report(FitResult& result) {
  // Iterations beyond the last observed one may be running: ends them, also because a step that
  // counts distances waits for them.
  if (!closed_) loop_.raise_cancel();
  const std::int64_t counted = loop_.step_.distances();
  const std::int64_t passes = loop_.state_.iterations + (closed_ ? 1 : 0);
  result.distances = counted >= 0 ? counted : passes * loop_.dataset_.samples * loop_.clusters_;
  result.exact_fallbacks = loop_.step_.exact_fallbacks();
  if (spec_.profile == 0) return;
  // The device's times: the host only waits for it.
  result.phases.transfer_ms = transfer_ms_;
  result.phases.assignment_ms = phases_.milliseconds(Phase::assignment);
  result.phases.update_ms = phases_.milliseconds(Phase::update);
  result.phases.convergence_ms = phases_.milliseconds(Phase::convergence);
}

template void DeviceLoop<float>::fit(const FitSpec&, Observer*, FitResult&);
template void DeviceLoop<double>::fit(const FitSpec&, Observer*, FitResult&);
template class DeviceLoop<float>::Passes;
template class DeviceLoop<double>::Passes;

}  // namespace lloyd_cuda
