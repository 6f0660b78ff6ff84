#include "cuda/loop/loop_pass_sequence.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include <lloyd/plugin/sdk/float32_range.hpp>
#include <lloyd/plugin/sdk/iteration_rules.hpp>

#include "cuda/memory/memory_estimate.hpp"
#include "cuda/passes/start_pass.hpp"
#include "cuda/rows/compensated_sums.hpp"
#include "cuda/seeding/device_seeding.hpp"

namespace lloyd_cuda {

using lloyd::ClusterSums;
using lloyd::FitSpec;
using lloyd::Observer;
using lloyd::RowRange;

namespace {

// Maximum number of values of the initial centroids in pinned memory. Allocating more takes longer
// than copying from pageable memory.
constexpr std::int64_t kMaxPinnedCentroids = 1 << 17;

// Maximum number of values in the slots of a ReportRing: 4 MiB of pinned memory. Larger centroids
// are copied, and fewer iterations are enqueued ahead.
constexpr std::int64_t kMaxRingValues = 1 << 19;

}  // namespace

template <class T>
DeviceLoop<T>::DeviceLoop(Step<T>& step, const lloyd::DatasetView& dataset, const Stream& stream)
    : step_(step),
      dataset_(dataset),
      stream_(stream),
      plan_(lloyd::SumPlan::make(dataset)),
      scale_(plan_),
      cancel_requested_([this] { return poll_cancel(); }),
      labels_(dataset.samples),
      device_progress_(progress_.device_data()) {}

template <class T>
lloyd::MemoryEstimate DeviceLoop<T>::estimate(const lloyd::ProblemShape& shape) {
  // In float64, so that sizes cannot overflow.
  const auto n = static_cast<double>(shape.samples);
  const auto k = static_cast<double>(shape.clusters);
  const double cells = k * static_cast<double>(shape.features);
  const double rounded = shape.dtype == lloyd::DType::float32 ? sizeof(float) : 0;
  const double kept = 2 * cells * (sizeof(double) + rounded + sizeof(lloyd::SumWords)) +
                      2 * k * sizeof(unsigned long long);
  // Kept after the first relocation.
  const double relocation =
      FarthestSelection::device_bytes(std::min(k, n)) + k * sizeof(lloyd::Relocation);
  // A seeding frees its memory before a fit starts. A seeding after a fit needs its memory in
  // addition to what the session keeps for the next fit.
  const double device =
      n * sizeof(std::int32_t) + kept + relocation + DeviceSeeding<T>::device_bytes(n);
  // Observed and initial centroids in pinned memory, and host memory of an iteration that the host
  // finishes: centroids twice, sums as words and as totals.
  const double observed = cells * ReportRing::kSlots;
  const double host =
      (observed <= kMaxRingValues ? observed * sizeof(double) : 0) +
      cells * (3 * sizeof(double) + sizeof(lloyd::SumWords) + lloyd::SumPlan::kMaxBytesPerCell) +
      k * (3 * sizeof(std::int64_t) + 2 * sizeof(lloyd::FarSample));
  return make_estimate(host, device);
}

template <class T>
void DeviceLoop<T>::prepare(std::int64_t clusters, Observer* observer) {
  end_passes();
  results_.reset();
  observer_ = observer;
  cancel_raised_ = false;
  if (clusters != clusters_) {
    clusters_ = 0;  // if an allocation below fails, nothing is prepared
    graph_.reset();
    farthest_.reset();
    relocations_.resize(0);
    const std::int64_t cells = clusters * dataset_.features;
    initial_centroids_ = PinnedBuffer<double>();
    if (cells <= kMaxPinnedCentroids) initial_centroids_ = PinnedBuffer<double>(cells);
    reported_centroids_ = PinnedBuffer<double>();
    for (int slot = 0; slot < 2; ++slot) {
      // Kernels of a cancelled fit may read centroids that no iteration has written.
      centroids_[slot].resize(cells);
      centroids_[slot].fill_bytes(0, stream_);
      if constexpr (sizeof(T) == sizeof(float)) {
        rounded_[slot].resize(cells);
        rounded_[slot].fill_bytes(0, stream_);
      }
      sums_[slot].resize(cells);
      counts_[slot].resize(clusters);
    }
    clusters_ = clusters;
  }
  step_.prepare(clusters, cancel_requested_);
}

// Enqueues the upload of `centroids` to a slot or, unless it is null, the copy of
// `device_centroids`.
template <class T>
void DeviceLoop<T>::set_centroids(const double* centroids, std::size_t slot,
                                  const double* device_centroids) {
  if (device_centroids == nullptr) {
    centroids_[slot].upload(centroids, cells(), stream_);
  } else {
    check(cudaMemcpyAsync(centroids_[slot].data(), device_centroids,
                          static_cast<std::size_t>(cells()) * sizeof(double),
                          cudaMemcpyDeviceToDevice, stream_),
          "copying centroids within the device");
  }
  if constexpr (sizeof(T) == sizeof(float)) {
    enqueue_rounding(centroids_[slot].data(), rounded_[slot].data(), cells(), stream_);
  }
}

// True if these centroids, or means of the data, are outside of lloyd::Float32Range. Means lie in
// the bounding box of the data, so it suffices to test the corner farthest from the origin.
template <class T>
bool DeviceLoop<T>::needs_float64(const double* centroids) const {
  if constexpr (sizeof(T) == sizeof(double)) return false;
  const lloyd::Float32Range range(dataset_);
  std::vector<double> corner;
  for (std::int64_t j = 0; j < dataset_.features; ++j) {
    const lloyd::FeatureStatistics& feature = dataset_.statistics[j];
    corner.push_back(std::max(std::abs(feature.minimum), std::abs(feature.maximum)));
  }
  return !range.covers(centroids, clusters_) || !range.covers(corner.data(), 1);
}

// Sets the state before iteration 0: initial centroids, no labels, no sums. The device reads the
// centroids from `device_centroids`, the same values in device memory, if it is not null.
template <class T>
void DeviceLoop<T>::start_from(const double* centroids, const double* device_centroids) {
  in_float64_ = needs_float64(centroids);
  stream_.synchronize();  // an earlier start may still be reading initial_centroids_
  if (device_centroids == nullptr && initial_centroids_.size() > 0) {
    std::copy_n(centroids, cells(), initial_centroids_.data());
    device_centroids = initial_centroids_.device_data();
  } else if (device_centroids == nullptr) {
    centroids_[0].upload(centroids, cells(), stream_);
    device_centroids = centroids_[0].data();
  }
  state_ = {};
  progress_[0] = 0;
  Start start;
  start.samples = dataset_.samples;
  start.clusters = clusters_;
  start.features = dataset_.features;
  start.initial_centroids = device_centroids;
  start.centroids = centroids_[0].data();
  start.rounded = rounded_[0].data();
  start.labels = labels_.data();
  start.totals = {sums_[0].data(), counts_[0].data()};
  start.next_totals = {sums_[1].data(), counts_[1].data()};
  start.state = device_state_.data();
  enqueue_start(start, stream_);
}

// Copies the totals of the iteration before an iteration (>= 1) to its own.
template <class T>
void DeviceLoop<T>::copy_totals_to(std::int64_t iteration) {
  const auto slot = static_cast<std::size_t>(iteration % 2);
  sums_[slot].copy_from(sums_[1 - slot], stream_);
  counts_[slot].copy_from(counts_[1 - slot], stream_);
}

// Sets the totals of an iteration (>= 1) that the host starts: those of the iteration before it if
// the step sums only changes, else zeros.
template <class T>
void DeviceLoop<T>::carry_totals_over(std::int64_t iteration) {
  if (!step_.sums_only_changes() || !plan_.is_integer()) return clear_totals(iteration);
  copy_totals_to(iteration);
}

template <class T>
void DeviceLoop<T>::clear_totals(std::int64_t iteration) {
  const auto slot = static_cast<std::size_t>(iteration % 2);
  sums_[slot].fill_bytes(0, stream_);
  counts_[slot].fill_bytes(0, stream_);
}

template <class T>
Pass DeviceLoop<T>::pass_of(std::int64_t iteration, RowRange rows) const {
  const auto slot = static_cast<std::size_t>(iteration % 2);
  Pass pass;
  pass.rows = rows;
  pass.clusters = clusters_;
  pass.centroids = centroids_[slot].data();
  pass.rounded = rounded_[slot].data();
  pass.in_float64 = in_float64_;
  pass.scale = scale_.get();
  pass.labels = labels_.data();
  pass.halt = &device_state_.data()->halt;
  pass.stream = stream_;
  return pass;
}

// Returns the ring of a fit. Allocates the slots of the centroids in the first observed fit, unless
// they are too large.
template <class T>
ReportRing DeviceLoop<T>::prepare_report_ring(bool with_inertia) {
  const std::int64_t values = ReportRing::kSlots * cells();
  if (reported_centroids_.size() == 0 && values <= kMaxRingValues) {
    try {
      reported_centroids_ = PinnedBuffer<double>(values);
    } catch (const lloyd::StatusError&) {  // too little memory: the fit copies its centroids
    }
  }
  ReportRing ring;
  ring.reports = reports_.device_data();
  if (reported_centroids_.size() > 0) ring.centroids = reported_centroids_.device_data();
  if (!with_inertia) return ring;
  ring.inertia_slots = inertias_.device_data();
  ring.inertia_sum = inertia_.data();
  return ring;
}

template <class T>
Finish DeviceLoop<T>::finish_of(const FitSpec& spec, std::int64_t iteration) const {
  const auto slot = static_cast<std::size_t>(iteration % 2);
  Finish finish;
  finish.clusters = clusters_;
  finish.features = dataset_.features;
  finish.scale = scale_.get();
  finish.totals = {sums_[slot].data(), counts_[slot].data()};
  finish.next_totals = {sums_[1 - slot].data(), counts_[1 - slot].data()};
  finish.centroids = centroids_[slot].data();
  finish.next_centroids = centroids_[1 - slot].data();
  finish.next_rounded = rounded_[1 - slot].data();
  finish.state = device_state_.data();
  finish.progress = device_progress_;
  finish.keeps_totals = step_.sums_only_changes();
  finish.halt_when_empty = spec.empty_clusters != lloyd::EmptyClusters::keep;
  finish.may_converge = spec.stop_rule == lloyd::StopRule::converge;
  finish.shift_wanted = lloyd::needs_shift(spec);
  finish.tolerance = spec.tolerance;
  finish.max_iterations = spec.max_iterations;
  return finish;
}

// Enqueues a measurement of the labels of `rows` with the centroids of an iteration.
template <class T>
void DeviceLoop<T>::measure(std::int64_t iteration, RowRange rows, unsigned long long* counts,
                            unsigned long long* inertia) {
  const std::int32_t* const halt = &device_state_.data()->halt;
  step_.for_each_part(rows, halt, [&](RowRange part, const Samples<T>& samples) {
    Measurement<T> measurement;
    measurement.rows = part;
    measurement.samples = samples;
    measurement.centroids = centroids_[iteration % 2].data();
    measurement.clusters = clusters_;
    measurement.labels = labels_.data();
    measurement.counts = counts;
    measurement.inertia = inertia;
    measurement.halt = halt;
    enqueue_measurement(measurement, stream_);
  });
}

// Adds rows to the compensated sums and the counts of an iteration, by their labels.
template <class T>
void DeviceLoop<T>::add_compensated(std::int64_t iteration, RowRange rows) {
  const auto slot = static_cast<std::size_t>(iteration % 2);
  step_.for_each_part(rows, nullptr, [&](RowRange part, const Samples<T>& samples) {
    enqueue_compensated_sums(part, samples, labels_.data(), clusters_,
                             {sums_[slot].data(), counts_[slot].data()}, stream_);
  });
  if (poll_cancel()) lloyd::throw_cancelled();  // the sums may be incomplete
}

template <class T>
void DeviceLoop<T>::fetch_sums(std::int64_t iteration, ClusterSums& sums) {
  const auto slot = static_cast<std::size_t>(iteration % 2);
  std::vector<lloyd::SumWords> words(static_cast<std::size_t>(cells()));
  std::vector<unsigned long long> device_counts(static_cast<std::size_t>(clusters_));
  sums_[slot].download(words.data(), cells(), stream_);
  counts_[slot].download(device_counts.data(), clusters_, stream_);
  stream_.synchronize();
  const std::vector<std::int64_t> counts(device_counts.begin(), device_counts.end());
  sums.load(words.data(), counts.data());
}

template <class T>
void DeviceLoop<T>::fetch_counts(const DeviceBuffer<unsigned long long>& from,
                                 std::int64_t* counts) {
  std::vector<unsigned long long> fetched(static_cast<std::size_t>(clusters_));
  from.download(fetched.data(), clusters_, stream_);
  stream_.synchronize();
  std::copy(fetched.begin(), fetched.end(), counts);
}

// Waits for work of the stream. If the observer requests cancellation meanwhile, the kernels return
// early.
template <class T>
void DeviceLoop<T>::wait_until(const std::function<bool()>& finished) {
  while (!finished()) {
    poll_cancel();
    std::this_thread::yield();
  }
  // Polls once more: the work may have finished before the observer was polled, and a flag that was
  // set while the state was being copied to the device may have been overwritten.
  if (poll_cancel()) raise_cancel();
}

// Polls the observer, and passes a request for cancellation on to the device. Returns true once
// cancellation was requested.
template <class T>
bool DeviceLoop<T>::poll_cancel() {
  if (!cancel_raised_ && observer_ != nullptr && observer_->stop_requested()) raise_cancel();
  return cancel_raised_;
}

template <class T>
void DeviceLoop<T>::raise_cancel() {
  cancel_flag_[0] = kHaltCancelled;
  check(cudaMemcpyAsync(&device_state_.data()->halt, cancel_flag_.data(), sizeof(std::int32_t),
                        cudaMemcpyHostToDevice, side_stream_),
        "cancelling");
  side_stream_.synchronize();
  // Once more in the order of the stream, which may still have to write an earlier state.
  check(cudaMemcpyAsync(&device_state_.data()->halt, cancel_flag_.data(), sizeof(std::int32_t),
                        cudaMemcpyHostToDevice, stream_),
        "cancelling");
  cancel_raised_ = true;
}

template <class T>
void DeviceLoop<T>::fetch_state() {
  device_state_.download(host_state_.data(), 1, stream_);
  stream_.synchronize();
  state_ = host_state_[0];
}

// wait() and fetch_state() with one synchronisation instead of two.
template <class T>
void DeviceLoop<T>::wait_for_state() {
  device_state_.download(host_state_.data(), 1, stream_);
  wait();
  state_ = host_state_[0];
  if (cancel_raised_) fetch_state();  // the request may have come after the copy
}

template <class T>
void DeviceLoop<T>::upload_state() {
  stream_.synchronize();  // an earlier copy may still be reading host_state_
  enqueue_state();
}

// Like upload_state(), but without waiting: no earlier copy may be reading host_state_.
template <class T>
void DeviceLoop<T>::enqueue_state() {
  state_.arrived = 0;  // of a cancelled kernel, only some blocks may have arrived
  host_state_[0] = state_;
  progress_[0] = static_cast<unsigned long long>(state_.iterations) << kProgressHaltBits |
                 static_cast<unsigned long long>(state_.halt);
  device_state_.upload(host_state_.data(), 1, stream_);
}

template class DeviceLoop<float>;
template class DeviceLoop<double>;

}  // namespace lloyd_cuda
