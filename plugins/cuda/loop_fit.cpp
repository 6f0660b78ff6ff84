// DeviceLoop: the iterations of a fit, and its closing assignment.
#include <thread>

#include "cuda/loop.hpp"

namespace lloyd_cuda {

using lloyd::FitResult;
using lloyd::FitSpec;
using lloyd::IterationRecord;
using lloyd::Observer;
using lloyd::StopReason;

namespace {

// Iterations that the host enqueues ahead of the device: enough to keep it busy, but few enough to
// skip quickly after the fit has stopped.
constexpr std::int64_t kIterationsAhead = 16;

}  // namespace

template <class T>
void DeviceLoop<T>::fit(const FitSpec& spec, Observer* observer, FitResult& result) {
  prepare(spec.clusters, observer);
  result.sum_form = plan_.form;
  result.valid = 0;
  result.iterations = result.relocations = result.distances = 0;
  result.phases = {};
  const bool profile = spec.profile != 0;
  const bool observed = observer != nullptr && spec.observe != 0;
  Phases phases;

  const Clock::time_point start = Clock::now();
  start_from(spec.initial_centroids);
  if (profile) {
    wait();
    result.phases.transfer_ms = milliseconds_between(start, Clock::now());
  }
  if (observed || profile || !plan_.is_integer()) {
    run_observed(spec, result, start, profile ? &phases : nullptr);
  } else {
    const bool changes_wanted = spec.stop_rule == lloyd::StopRule::converge;
    do {
      run_ahead(spec, changes_wanted);
      if (state_.halt == kHaltEmpty) {
        finish_on_host(spec, changes_wanted);
        result.relocations += relocations_;
      }
    } while (state_.halt == kHaltNone);
  }
  const Clock::time_point closing = Clock::now();
  result.loop_ms = milliseconds_between(start, closing);
  result.iterations = state_.iterations;
  result.stop_reason =
      cancelled() ? StopReason::cancelled : static_cast<StopReason>(state_.stop_reason);
  if (profile) {
    result.phases.assignment_ms = phases.milliseconds(Phase::assignment);
    result.phases.update_ms = phases.milliseconds(Phase::update);
    result.phases.convergence_ms = phases.milliseconds(Phase::convergence);
  }
  if (!cancelled()) close(result);
  result.closing_ms = milliseconds_between(closing, Clock::now());

  const Clock::time_point fetching = Clock::now();
  if (result.centroids != nullptr) {
    centroids_[state_.iterations % 2].download(result.centroids, cells(), stream_);
    stream_.synchronize();
    result.valid |= lloyd::kValidCentroids;
  }
  if (profile) result.phases.transfer_ms += milliseconds_between(fetching, Clock::now());
  const std::int64_t counted = step_.distances();
  const std::int64_t passes = state_.iterations + (cancelled() ? 0 : 1);
  result.distances = counted >= 0 ? counted : passes * dataset_.samples * clusters_;
  if (cancelled()) {
    result.stop_reason = StopReason::cancelled;
    throw_cancelled();
  }
}

template <class T>
void DeviceLoop<T>::enqueue_iteration(const FitSpec& spec, std::int64_t iteration,
                                      bool changes_wanted, Phases* phases) {
  Pass pass = pass_of(iteration, all_rows());
  if (iteration > 0) pass.former_centroids = centroids_[(iteration + 1) % 2].data();
  if (changes_wanted) pass.changed = &device_state_.data()->changed;
  const Finish finish = finish_of(spec, iteration);
  if (plan_.is_integer()) pass.totals = finish.totals;
  pass.phases = phases;
  if (phases != nullptr) phases->begin(Phase::assignment, stream_);
  step_.assign(pass);
  if (phases != nullptr) phases->begin(Phase::update, stream_);
  if (plan_.is_integer()) {
    enqueue_means(finish, stream_);
    if (phases != nullptr) phases->begin(Phase::convergence, stream_);
    enqueue_decision(finish, stream_);
  }
  if (phases != nullptr) phases->begin(Phase::none, stream_);
}

// Enqueues iterations until the device stops for any reason.
template <class T>
void DeviceLoop<T>::run_ahead(const FitSpec& spec, bool changes_wanted) {
  const volatile unsigned long long* progress = progress_.data();
  std::int64_t enqueued = state_.iterations;
  for (;;) {
    const unsigned long long word = *progress;
    if ((word & ((1u << kProgressHaltBits) - 1)) != 0) break;
    const auto finished = static_cast<std::int64_t>(word >> kProgressHaltBits);
    if (poll_cancel()) break;
    if (enqueued < spec.max_iterations && enqueued - finished < kIterationsAhead) {
      enqueue_iteration(spec, enqueued++, changes_wanted, nullptr);
    } else {
      stream_.finished();  // throws if a kernel failed
      std::this_thread::yield();
    }
  }
  stream_.synchronize();
  fetch_state();
}

// Runs one iteration at a time: for an observer, for a profile, or because the host computes the
// sums.
template <class T>
void DeviceLoop<T>::run_observed(const FitSpec& spec, FitResult& result, Clock::time_point start,
                                 Phases* phases) {
  const bool observed = observer_ != nullptr && spec.observe != 0;
  std::vector<std::int32_t> labels;
  std::vector<double> centroids;
  while (state_.halt == kHaltNone) {
    const std::int64_t iteration = state_.iterations;
    enqueue_iteration(spec, iteration, true, phases);
    wait();
    fetch_state();
    if (phases != nullptr) phases->collect();
    if (cancelled()) {
      state_.iterations = iteration;  // even if the device had not finished it
      return;
    }
    relocations_ = 0;
    if (state_.halt == kHaltEmpty || !plan_.is_integer()) {
      const Clock::time_point updating = Clock::now();
      finish_on_host(spec, true);
      if (phases != nullptr) {
        phases->add(Phase::update, milliseconds_between(updating, Clock::now()));
      }
      if (cancelled()) return;
    }
    result.relocations += relocations_;
    if (!observed) continue;

    IterationRecord record;
    record.iteration = state_.iterations;
    record.changed = state_.last_changed;
    record.relocations = relocations_;
    record.shift = state_.shift;
    if ((spec.observe & lloyd::kObserveInertia) != 0) {
      inertia_.clear(stream_);
      measure(iteration, all_rows(), nullptr, inertia_.data());
      wait();
      fetch_state();
      if (cancelled()) {  // the inertia is incomplete
        state_.iterations = iteration;
        result.relocations -= relocations_;
        return;
      }
      record.inertia = inertia_.fetch(stream_).value();
    }
    if ((spec.observe & lloyd::kObserveLabels) != 0) {
      labels.resize(static_cast<std::size_t>(dataset_.samples));
      labels_.download(labels.data(), dataset_.samples, stream_);
      record.labels = labels.data();
    }
    if ((spec.observe & lloyd::kObserveCentroids) != 0) {
      centroids.resize(static_cast<std::size_t>(cells()));
      centroids_[state_.iterations % 2].download(centroids.data(), cells(), stream_);
      record.centroids = centroids.data();
    }
    stream_.synchronize();
    record.elapsed_ms = milliseconds_between(start, Clock::now());
    if (!observer_->on_iteration(record)) {
      state_.halt = kHaltCancelled;
      return;
    }
  }
}

// The closing assignment: labels, counts and inertia of the returned centroids.
template <class T>
void DeviceLoop<T>::close(FitResult& result) {
  const std::int64_t iteration = state_.iterations;
  state_.halt = kHaltNone;
  put_state();
  Pass pass = pass_of(iteration, all_rows());
  if (iteration > 0) pass.former_centroids = centroids_[(iteration + 1) % 2].data();
  pass.changed = &device_state_.data()->changed;
  step_.assign(pass);
  const DeviceBuffer<unsigned long long>& counts = counts_[0];
  counts.fill_bytes(0, stream_);
  inertia_.clear(stream_);
  measure(iteration, all_rows(), counts.data(), inertia_.data());
  wait();
  const std::int64_t iterations = state_.iterations;
  fetch_state();
  state_.iterations = iterations;
  if (cancelled()) return;
  result.inertia = inertia_.fetch(stream_).value();
  result.valid |= lloyd::kValidInertia;
  if (result.labels != nullptr) {
    labels_.download(result.labels, dataset_.samples, stream_);
    result.valid |= lloyd::kValidLabels;
  }
  if (result.counts != nullptr) {
    fetch_counts(counts, result.counts);
    result.valid |= lloyd::kValidCounts;
  }
  stream_.synchronize();
}

template class DeviceLoop<float>;
template class DeviceLoop<double>;

}  // namespace lloyd_cuda
