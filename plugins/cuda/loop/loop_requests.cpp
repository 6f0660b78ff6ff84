// DeviceLoop: label requests and partial passes.
#include <algorithm>

#include "cuda/loop/loop_pass_sequence.hpp"
#include "cuda/rows/device_rows.hpp"

namespace lloyd_cuda {

using lloyd::ClusterSums;
using lloyd::Observer;
using lloyd::RowRange;

namespace {

// Rows per copy of distances to the host, in label().
constexpr std::int64_t kDistanceRows = std::int64_t{1} << 20;

}  // namespace

template <class T>
void DeviceLoop<T>::label(const lloyd::LabelRequest& request, Observer* observer,
                          lloyd::LabelResult& result) {
  const Clock::time_point start = Clock::now();
  prepare(request.clusters, observer);
  result.valid = 0;
  start_from(request.centroids);
  Pass pass = pass_of(0, all_rows());
  pass.changed = &device_state_.data()->changed;
  step_.assign(pass);
  inertia_.clear(stream_);
  measure(0, all_rows(), counts_[0].data(), inertia_.data());
  wait();
  fetch_state();
  if (cancelled()) lloyd::throw_cancelled();
  result.inertia = inertia_.fetch(stream_).value();
  result.valid |= lloyd::kValidInertia;
  if (result.labels != nullptr) {
    labels_.download(result.labels, dataset_.samples, stream_);
    result.valid |= lloyd::kValidLabels;
  }
  if (result.counts != nullptr) {
    fetch_counts(counts_[0], result.counts);
    result.valid |= lloyd::kValidCounts;
  }
  if (result.squared_distances != nullptr) fetch_distances(result.squared_distances);
  stream_.synchronize();
  results_ = 0;
  result.label_ms = milliseconds_between(start, Clock::now());
}

template <class T>
void DeviceLoop<T>::copy_results(const lloyd::DeviceArrays& arrays) {
  if (!results_) {
    throw lloyd::StatusError(
        lloyd::StatusCode::invalid_argument,
        "there are no results to copy: the last request was no finished fit or labelling");
  }
  const auto stream = static_cast<cudaStream_t>(arrays.stream);
  const auto copy = [stream](void* to, const void* from, std::int64_t bytes) {
    if (to == nullptr) return;
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice,
                          stream),
          "copying results within the device");
  };
  constexpr auto kCountBytes = static_cast<std::int64_t>(sizeof(std::int64_t));
  enqueue_wait(stream, stream_);
  copy(arrays.centroids, centroids_[*results_].data(),
       cells() * static_cast<std::int64_t>(sizeof(double)));
  copy(arrays.labels, labels_.data(),
       dataset_.samples * static_cast<std::int64_t>(sizeof(std::int32_t)));
  copy(arrays.counts, counts_[0].data(), clusters_ * kCountBytes);
  enqueue_wait(stream_, stream);  // the next request overwrites the results
}

template <class T>
void DeviceLoop<T>::fetch_distances(double* squared_distances) {
  const DeviceBuffer<double> fetched(std::min(kDistanceRows, dataset_.samples));
  step_.for_each_part(all_rows(), nullptr, [&](RowRange part, const Samples<T>& samples) {
    for (std::int64_t begin = part.begin; begin < part.end; begin += kDistanceRows) {
      Measurement<T> measurement;
      measurement.rows = {begin, std::min(begin + kDistanceRows, part.end)};
      measurement.samples = samples;
      measurement.centroids = centroids_[0].data();
      measurement.clusters = clusters_;
      measurement.labels = labels_.data();
      measurement.squared_distances = fetched.data();
      enqueue_measurement(measurement, stream_);
      fetched.download(squared_distances + begin, measurement.rows.size(), stream_);
    }
  });
  wait();
}

template <class T>
void DeviceLoop<T>::partial(const lloyd::PartialRequest& request, Observer* observer,
                            lloyd::PartialResult& result) {
  prepare(request.clusters, observer);
  start_from(request.centroids);
  const RowRange rows = request.rows;
  if (result.labels != nullptr) {
    labels_.upload(result.labels, rows.size(), stream_, rows.begin);
  }
  Pass pass = pass_of(0, rows);
  pass.changed = &device_state_.data()->changed;
  if (plan_.is_integer()) pass.totals = {sums_[0].data(), counts_[0].data()};
  step_.assign(pass);
  inertia_.clear(stream_);
  if (result.inertia != nullptr) measure(0, rows, nullptr, inertia_.data());
  wait();
  fetch_state();
  if (cancelled()) lloyd::throw_cancelled();
  const std::int64_t wanted = result.farthest == nullptr ? 0 : request.farthest_wanted;
  const std::vector<lloyd::FarSample> farthest =
      find_farthest(std::clamp<std::int64_t>(wanted, 0, rows.size()), rows, 0);
  if (!plan_.is_integer()) {
    // The device adds to the sums of the preceding rows.
    if (result.sums != nullptr) sums_[0].upload(result.sums, cells(), stream_);
    add_compensated(0, rows);
  }
  // No cancellation from here on: after this point a cancelled call would leave the caller unable
  // to tell whether its sums had been updated.

  if (result.labels != nullptr) {
    labels_.download(result.labels, rows.size(), stream_, rows.begin);
  }
  ClusterSums sums(plan_, clusters_);
  if (plan_.is_integer()) {
    sums.load(result.sums, result.counts);
    ClusterSums added(plan_, clusters_);
    fetch_sums(0, added);
    sums.merge(added);
  } else {
    fetch_sums(0, sums);
    if (result.counts != nullptr) {
      for (std::int64_t c = 0; c < clusters_; ++c) result.counts[c] += sums.count(c);
    }
  }
  sums.store(result.sums, plan_.is_integer() ? result.counts : nullptr);
  stream_.synchronize();
  result.sum_form = plan_.form;
  result.changed = static_cast<std::int64_t>(state_.changed);
  if (result.inertia != nullptr) result.inertia->add(inertia_.fetch(stream_));
  if (result.farthest != nullptr) std::copy(farthest.begin(), farthest.end(), result.farthest);
  result.farthest_count = static_cast<std::int64_t>(farthest.size());
}

template class DeviceLoop<float>;
template class DeviceLoop<double>;

}  // namespace lloyd_cuda
