#include "cuda-hybrid/device_labeller.hpp"

#include <array>
#include <chrono>
#include <type_traits>

#include <lloyd/plugin/sdk/guard.hpp>

#include "cuda-hybrid/label_kernel.hpp"
#include "cuda-hybrid/label_pipeline.hpp"
#include "cuda/device/buffer.hpp"
#include "cuda/device/device.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/parameters.hpp"
#include "cuda/resident/resident_samples.hpp"

namespace lloyd_cuda_hybrid {

using lloyd_cuda::check;
using lloyd_cuda::DeviceBuffer;
using lloyd_cuda::DeviceScope;
using lloyd_cuda::Event;
using lloyd_cuda::PinnedBuffer;
using lloyd_cuda::Stream;

template <class T>
struct DeviceLabeller<T>::Parts {
  Parts(const lloyd::DatasetView& dataset, std::int64_t chunk_rows)
      : samples(dataset, lloyd_cuda::Layout::soa, streams[0]),
        labels(kSlots * chunk_rows),
        arrived_labels(kSlots * chunk_rows) {
    raised[0] = 1;
    halt.fill_bytes(0, streams[0]);
  }

  template <class Real>
  DeviceBuffer<GroupFeature<Real>>& groups() {
    if constexpr (std::is_same_v<Real, float>) {
      return narrow;
    } else {
      return wide;
    }
  }

  std::array<Stream, kSlots> streams;  // one per slot; the first also copies the centroids
  Stream side_stream;                  // copies the cancellation flag
  std::array<Event, kSlots> labelled;  // recorded if a pass is profiled
  std::array<Event, kSlots> arrived;
  Event uploaded;
  lloyd_cuda::ResidentSamples<T> samples;
  DeviceBuffer<std::int32_t> labels;          // kSlots chunks
  PinnedBuffer<std::int32_t> arrived_labels;  // their copies in host memory
  DeviceBuffer<GroupFeature<float>> narrow;
  DeviceBuffer<GroupFeature<double>> wide;
  DeviceBuffer<std::int32_t> halt{1};
  PinnedBuffer<std::int32_t> raised{1};  // source of `halt`
};

template <class T>
DeviceLabeller<T>::DeviceLabeller(const lloyd::DatasetView& dataset,
                                  const lloyd::ParameterList& parameters, std::int64_t chunk_rows)
    : device_(static_cast<int>(parameters.integer("device"))),
      block_size_(lloyd_cuda::block_size_of(parameters)),
      chunk_rows_(chunk_rows),
      features_(dataset.features) {
  const DeviceScope scope(device_);
  parts_ = std::make_unique<Parts>(dataset, chunk_rows);
}

template <class T>
DeviceLabeller<T>::~DeviceLabeller() {
  // If the device is no longer usable, host memory is still freed.
  static_cast<void>(lloyd::guarded([&] {
    const DeviceScope scope(device_);
    parts_.reset();
  }));
}

template <class T>
template <class Real>
void DeviceLabeller<T>::begin_pass(const GroupFeature<Real>* groups, std::int64_t clusters,
                                   bool profile) {
  using Clock = std::chrono::steady_clock;
  const DeviceScope scope(device_);
  const Stream& stream = parts_->streams[0];
  const Clock::time_point start = Clock::now();
  if (clusters != clusters_) {
    parts_->narrow.resize(0);
    parts_->wide.resize(0);
    clusters_ = clusters;
  }
  DeviceBuffer<GroupFeature<Real>>& buffer = parts_->template groups<Real>();
  const std::int64_t size = group_features(clusters, features_);
  buffer.resize(size);
  buffer.upload(groups, size, stream);
  parts_->uploaded.record(stream);
  in_float64_ = std::is_same_v<Real, double>;
  profiled_ = profile;
  transfer_ms_ = 0;
  if (!profiled_) return;
  stream.synchronize();
  transfer_ms_ = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

template <class T>
void DeviceLabeller<T>::start(int slot, lloyd::RowRange rows) {
  const DeviceScope scope(device_);
  if constexpr (std::is_same_v<T, float>) {
    if (!in_float64_) return enqueue<float>(slot, rows);
  }
  enqueue<double>(slot, rows);
}

template <class T>
template <class Real>
void DeviceLabeller<T>::enqueue(int slot, lloyd::RowRange rows) {
  const auto at = static_cast<std::size_t>(slot);
  const Stream& stream = parts_->streams[profiled_ ? 0 : at];
  const std::int64_t offset = slot * chunk_rows_;
  check(cudaStreamWaitEvent(stream, parts_->uploaded, 0), "waiting for the centroids");
  LabelTask<T, Real> task;
  task.rows = rows;
  task.samples = parts_->samples.get();
  task.groups = parts_->template groups<Real>().data();
  task.clusters = clusters_;
  task.labels = parts_->labels.data() + offset;
  task.halt = parts_->halt.data();
  enqueue_labelling(task, block_size_, stream);
  if (profiled_) parts_->labelled[at].record(stream);
  parts_->labels.download(parts_->arrived_labels.data() + offset, rows.size(), stream, offset);
  parts_->arrived[at].record(stream);
}

template <class T>
bool DeviceLabeller<T>::arrived(int slot) {
  const auto at = static_cast<std::size_t>(slot);
  const cudaError_t error = cudaEventQuery(parts_->arrived[at]);
  if (error == cudaErrorNotReady) return false;
  check(error, "labelling the samples");
  if (profiled_) transfer_ms_ += parts_->arrived[at].milliseconds_since(parts_->labelled[at]);
  return true;
}

template <class T>
const std::int32_t* DeviceLabeller<T>::labels(int slot) const {
  return parts_->arrived_labels.data() + slot * chunk_rows_;
}

// Errors are ignored: the pass has already failed or been cancelled, and a lost device makes the
// next one fail.
template <class T>
void DeviceLabeller<T>::abandon() noexcept {
  static_cast<void>(lloyd::guarded([&] {
    const DeviceScope scope(device_);
    parts_->halt.upload(parts_->raised.data(), 1, parts_->side_stream);
  }));
  cudaStreamSynchronize(parts_->side_stream);
  for (const Stream& stream : parts_->streams) cudaStreamSynchronize(stream);
  static_cast<void>(lloyd::guarded([&] {
    const DeviceScope scope(device_);
    parts_->halt.fill_bytes(0, parts_->streams[0]);
  }));
  cudaGetLastError();
}

template <class T>
double DeviceLabeller<T>::transfer_ms() const {
  return transfer_ms_;
}

template void DeviceLabeller<float>::begin_pass(const GroupFeature<float>*, std::int64_t, bool);
template void DeviceLabeller<float>::begin_pass(const GroupFeature<double>*, std::int64_t, bool);
template void DeviceLabeller<double>::begin_pass(const GroupFeature<double>*, std::int64_t, bool);
template class DeviceLabeller<float>;
template class DeviceLabeller<double>;

}  // namespace lloyd_cuda_hybrid
