// DeviceLoop: the iterations of a fit, and its closing assignment.
#include <thread>

#include "cuda/loop/loop_passes.hpp"

namespace lloyd_cuda {

using lloyd::FinishedIterations;
using lloyd::FitResult;
using lloyd::FitSpec;
using lloyd::Observer;

namespace {

// Iterations that the host enqueues ahead of the device: enough to keep it busy, but few enough to
// skip quickly after the fit has stopped.
constexpr std::int64_t kIterationsAhead = 16;

}  // namespace

template <class T>
void DeviceLoop<T>::fit(const FitSpec& spec, Observer* observer, FitResult& result) {
  prepare(spec.clusters, observer);
  result.sum_form = plan_.form;
  Passes passes(*this, spec, observer);
  lloyd::drive_fit(spec, observer, passes, result);
}

template <class T>
DeviceLoop<T>::Passes::Passes(DeviceLoop& loop, const FitSpec& spec, Observer* observer)
    : loop_(loop), spec_(spec) {
  const bool observed = observer != nullptr && spec.observe != 0;
  runs_ahead_ = !observed && spec.profile == 0 && loop.plan_.is_integer();
  changes_wanted_ = !runs_ahead_ || spec.stop_rule == lloyd::StopRule::converge;
}

template <class T>
void DeviceLoop<T>::Passes::begin() {
  const Clock::time_point start = Clock::now();
  loop_.start_from(spec_.initial_centroids);
  if (spec_.profile == 0) return;
  loop_.wait();
  transfer_ms_ += milliseconds_between(start, Clock::now());
}

template <class T>
void DeviceLoop<T>::Passes::assign() {
  if (loop_.poll_cancel()) lloyd::throw_cancelled();
  if (!runs_ahead_) enqueue_assignment(loop_.state_.iterations);
}

template <class T>
double DeviceLoop<T>::Passes::inertia() {
  begin_phase(Phase::none);
  const std::int64_t iteration = loop_.state_.iterations;
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
  if (runs_ahead_) {
    if (loop_.state_.halt == kHaltNone) run_ahead();
    // An iteration that the host has to finish is an update of its own.
    if (loop_.state_.halt == kHaltEmpty && loop_.state_.iterations == iteration) finish_on_host();
  } else {
    finish_observed(iteration);
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
void DeviceLoop<T>::Passes::enqueue_assignment(std::int64_t iteration) {
  Pass pass = loop_.pass_of(iteration, loop_.all_rows());
  if (iteration > 0) pass.former_centroids = loop_.centroids_[(iteration + 1) % 2].data();
  if (changes_wanted_) pass.changed = &loop_.device_state_.data()->changed;
  if (loop_.plan_.is_integer()) pass.totals = loop_.finish_of(spec_, iteration).totals;
  if (spec_.profile != 0) pass.phases = &phases_;
  begin_phase(Phase::assignment);
  loop_.step_.assign(pass);
}

template <class T>
void DeviceLoop<T>::Passes::enqueue_finish(std::int64_t iteration) {
  const Finish finish = loop_.finish_of(spec_, iteration);
  begin_phase(Phase::update);
  enqueue_means(finish, loop_.stream_);
  begin_phase(Phase::convergence);
  enqueue_decision(finish, loop_.stream_);
}

// In a profiled fit: what is enqueued from here on belongs to a phase.
template <class T>
void DeviceLoop<T>::Passes::begin_phase(Phase phase) {
  if (spec_.profile != 0) phases_.begin(phase, loop_.stream_);
}

// Enqueues iterations until the device stops for any reason.
template <class T>
void DeviceLoop<T>::Passes::run_ahead() {
  const volatile unsigned long long* progress = loop_.progress_.data();
  std::int64_t enqueued = loop_.state_.iterations;
  for (;;) {
    const unsigned long long word = *progress;
    if ((word & ((1u << kProgressHaltBits) - 1)) != 0) break;
    const auto finished = static_cast<std::int64_t>(word >> kProgressHaltBits);
    if (loop_.poll_cancel()) break;
    if (enqueued < spec_.max_iterations && enqueued - finished < kIterationsAhead) {
      enqueue_assignment(enqueued);
      enqueue_finish(enqueued);
      ++enqueued;
    } else {
      loop_.stream_.finished();  // throws if a kernel failed
      std::this_thread::yield();
    }
  }
  loop_.stream_.synchronize();
  loop_.fetch_state();
}

// Finishes the one iteration whose assignment is enqueued.
template <class T>
void DeviceLoop<T>::Passes::finish_observed(std::int64_t iteration) {
  if (loop_.plan_.is_integer()) enqueue_finish(iteration);
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
  finish_on_host();
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
  // Copies for an observer belong to no phase, as those of labels.
  if (closed_) transfer_ms_ += milliseconds_between(start, Clock::now());
  return centroids_;
}

template <class T>
void DeviceLoop<T>::Passes::fetch_centroids() {
  centroids_.resize(static_cast<std::size_t>(loop_.cells()));
  loop_.centroids_[loop_.state_.iterations % 2].download(centroids_.data(), loop_.cells(),
                                                         loop_.stream_);
  loop_.stream_.synchronize();
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
  const std::int64_t counted = loop_.step_.distances();
  const std::int64_t passes = loop_.state_.iterations + (closed_ ? 1 : 0);
  result.distances = counted >= 0 ? counted : passes * loop_.dataset_.samples * loop_.clusters_;
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
