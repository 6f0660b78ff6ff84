// DeviceLoop: passes that the host runs one by one, for PassKernels and DevicePasses.
#include <algorithm>
#include <thread>

#include <lloyd/plugin/sdk/pass_rules.hpp>

#include "cuda/loop/loop_pass_sequence.hpp"
#include "cuda/passes/change_pass.hpp"
#include "cuda/rows/device_rows.hpp"

namespace lloyd_cuda {
namespace {

// Waits for the work already queued on a stream of the caller, which may wait for other devices and
// hosts. Throws StatusCode::cancelled if `observer`, which may be null, requests to stop.
void wait_for_work_on(cudaStream_t stream, const lloyd::Observer* observer) {
  const Event reached;
  reached.record(stream);
  while (!reached.finished()) {
    if (observer != nullptr && observer->stop_requested()) lloyd::throw_cancelled();
    std::this_thread::yield();
  }
}

}  // namespace

template <class T>
DeviceLoop<T>::~DeviceLoop() {
  end_passes();
}

template <class T>
void DeviceLoop<T>::end_passes() {
  // Pinned memory must not be freed or overwritten while a pass is running. An error of the device
  // is returned by the next call that uses it.
  if (sequence_ != nullptr && sequence_->is_running) cudaStreamSynchronize(stream_);
  sequence_.reset();
}

template <class T>
void DeviceLoop<T>::begin_passes(const lloyd::PassOptions& options) {
  end_passes();
  lloyd::check_pass_options(plan_, options);
  prepare(options.clusters, nullptr);
  sequence_ = std::make_unique<PassSequence>(options, dataset_.features);
}

template <class T>
void DeviceLoop<T>::pass(const lloyd::PassRequest& request, lloyd::Observer* observer,
                         lloyd::PassResult& result) {
  use_passes(observer, [&](PassSequence& sequence) {
    std::copy_n(request.centroids, cells(), sequence.centroids.data());
    const Totals totals = enqueue_pass(sequence, nullptr);
    const bool wants_sums = request.sums != nullptr;
    enqueue_changes(totals, former_totals(sequence),
                    {wants_sums ? sequence.sum_changes.device_data() : nullptr,
                     sequence.count_changes.device_data()},
                    clusters_, dataset_.features, stream_);
    if (request.inertia != nullptr) {
      inertia_.clear(stream_);
      measure(sequence.passes, all_rows(), nullptr, inertia_.data());
    }
    wait_for_state();
    sequence.is_running = false;
    if (cancelled()) lloyd::throw_cancelled();

    ++sequence.passes;
    for (std::int64_t i = 0; wants_sums && i < cells(); ++i) {
      const lloyd::SumWords& change = sequence.sum_changes[i];
      lloyd::add_limbs(static_cast<lloyd::Int128>(change.high) << 64 | change.low, sequence.limbs,
                       request.sums + i, static_cast<std::size_t>(cells()));
    }
    for (std::int64_t c = 0; request.counts != nullptr && c < clusters_; ++c) {
      request.counts[c] += static_cast<std::int64_t>(sequence.count_changes[c]);
    }
    if (request.inertia != nullptr) request.inertia->add(inertia_.fetch(stream_));
    result.changed = static_cast<std::int64_t>(state_.changed);
    const std::int64_t counted = step_.distances();
    result.distances =
        counted >= 0 ? counted - sequence.reported_distances : dataset_.samples * clusters_;
    sequence.reported_distances = std::max<std::int64_t>(counted, 0);
    const std::int64_t fallbacks = step_.exact_fallbacks();
    result.exact_fallbacks = fallbacks >= 0 ? fallbacks - sequence.reported_fallbacks : -1;
    sequence.reported_fallbacks = std::max<std::int64_t>(fallbacks, 0);
  });
}

// Before the pass the session's stream waits for the caller's; after it, vice versa. The host waits
// only until it has a copy of the centroids.
template <class T>
void DeviceLoop<T>::pass(const lloyd::DevicePassRequest& request, lloyd::Observer* observer,
                         lloyd::DevicePassResult& result) {
  use_passes(observer, [&](PassSequence& sequence) {
    if (request.centroids == nullptr) {
      throw lloyd::StatusError(lloyd::StatusCode::invalid_argument,
                               "the centroids of a pass in device memory are null");
    }
    const auto stream = static_cast<cudaStream_t>(request.stream);
    wait_for_work_on(stream, observer);
    sequence.is_running = true;
    enqueue_wait(stream_, stream);
    check(cudaMemcpyAsync(sequence.centroids.data(), request.centroids,
                          static_cast<std::size_t>(cells()) * sizeof(double),
                          cudaMemcpyDeviceToHost, stream_),
          "copying the centroids from the device");
    stream_.synchronize();
    if (poll_cancel()) lloyd::throw_cancelled();
    const Totals totals = enqueue_pass(sequence, request.centroids);
    enqueue_add_changes(totals, former_totals(sequence), &device_state_.data()->changed,
                        {sequence.limbs, request.sums, request.counts, request.changed}, clusters_,
                        dataset_.features, stream_);
    if (request.inertia != nullptr) {
      inertia_.clear(stream_);
      measure(sequence.passes, all_rows(), nullptr, inertia_.data());
      inertia_.enqueue_add_to(request.inertia, stream_);
    }
    // A step that streams rows polls the observer while it enqueues work. If that requested to
    // stop, the pass is incomplete.
    if (poll_cancel()) lloyd::throw_cancelled();
    enqueue_wait(stream, stream_);
    ++sequence.passes;
    result.distances = step_.counts_distances() ? -1 : dataset_.samples * clusters_;
  });
}

// Enqueues the assignment of the next pass by sequence.centroids; `device_centroids`: see
// start_from(). Returns the totals after the pass. No earlier pass may be running.
template <class T>
Totals DeviceLoop<T>::enqueue_pass(PassSequence& sequence, const double* device_centroids) {
  const std::int64_t number = sequence.passes;
  sequence.is_running = true;
  bool continues = false;
  if (number == 0) {
    start_from(sequence.centroids.data(), device_centroids);
  } else {
    continues = continue_from(sequence, device_centroids);
  }
  Pass pass = pass_of(number, all_rows());
  if (continues) pass.former_centroids = centroids_[(number + 1) % 2].data();
  pass.changed = &device_state_.data()->changed;
  pass.totals = {sums_[number % 2].data(), counts_[number % 2].data()};
  pass.sums_only_changes = (number == 0 || continues) && step_.sums_only_changes();
  step_.assign(pass);
  return pass.totals;
}

// The totals before the pass that enqueue_pass() enqueued.
template <class T>
Totals DeviceLoop<T>::former_totals(const PassSequence& sequence) const {
  const auto slot = static_cast<std::size_t>((sequence.passes + 1) % 2);
  return {sums_[slot].data(), counts_[slot].data()};
}

// Sets the state before a pass that follows another one; `device_centroids`: see start_from().
// Returns false if the step was reset: these centroids need float64, the earlier ones did not.
template <class T>
bool DeviceLoop<T>::continue_from(PassSequence& sequence, const double* device_centroids) {
  const std::int64_t number = sequence.passes;
  const auto slot = static_cast<std::size_t>(number % 2);
  // The last pass has finished, so that host_state_ may be written.
  state_ = {};
  enqueue_state();
  carry_totals_over(number);
  set_centroids(sequence.centroids.data(), slot, device_centroids);
  if (in_float64_ || !needs_float64(sequence.centroids.data())) return true;
  clear_totals(number);
  in_float64_ = true;
  // The step counts from 0 again. The counts not yet reported become offsets.
  sequence.reported_distances -= std::max<std::int64_t>(step_.distances(), 0);
  sequence.reported_fallbacks -= std::max<std::int64_t>(step_.exact_fallbacks(), 0);
  step_.prepare(clusters_, cancel_requested_);
  return false;
}

template <class T>
std::int64_t DeviceLoop<T>::farthest(std::int64_t wanted, lloyd::Observer* observer,
                                     lloyd::FarSample* samples) {
  std::vector<lloyd::FarSample> found;
  use_passes(observer, [&](PassSequence& sequence) {
    lloyd::require_pass_labels(sequence.passes > 0);
    found = find_farthest(std::clamp<std::int64_t>(wanted, 0, dataset_.samples), all_rows(),
                          sequence.passes - 1);
  });
  std::copy(found.begin(), found.end(), samples);
  return std::ssize(found);
}

template <class T>
void DeviceLoop<T>::pass_labels(std::int32_t* labels) {
  use_passes(nullptr, [&](PassSequence& sequence) {
    lloyd::require_pass_labels(sequence.passes > 0);
    labels_.download(labels, dataset_.samples, stream_);
    stream_.synchronize();
  });
}

// Waits for a pass that is still running, calls body(passes), and ends the passes if that throws.
template <class T>
template <class Body>
void DeviceLoop<T>::use_passes(lloyd::Observer* observer, const Body& body) {
  lloyd::require_passes(sequence_ != nullptr);
  observer_ = observer;
  cancel_raised_ = false;
  try {
    if (sequence_->is_running) stream_.synchronize();
    sequence_->is_running = false;
    body(*sequence_);
  } catch (...) {
    end_passes();
    throw;
  }
}

template class DeviceLoop<float>;
template class DeviceLoop<double>;

}  // namespace lloyd_cuda
