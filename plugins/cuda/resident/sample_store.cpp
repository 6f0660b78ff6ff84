#include "cuda/resident/sample_store.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cuda/rows/device_rows.hpp"
#include "cuda/rows/row_copies.hpp"

namespace lloyd_cuda {

using lloyd::RowRange;

template <class T>
void SampleStore<T>::hold(double available, cudaStream_t stream) {
  if (holds_samples() && plan_.device_bytes <= available) return;
  // Samples in place take no memory.
  const StorePlan plan =
      plan_store(dataset_.samples, row_bytes(), in_place_ ? std::max(available, 0.0) : available);
  if (!plan.feasible) {
    throw lloyd::StatusError(
        lloyd::StatusCode::out_of_memory,
        "the samples need at least " +
            std::to_string(static_cast<std::int64_t>(plan.device_bytes)) +
            " bytes of device memory, even in batches; " +
            std::to_string(static_cast<std::int64_t>(std::max(available, 0.0))) + " are available");
  }
  hold(plan, stream);
}

template <class T>
void SampleStore<T>::hold(const StorePlan& plan, cudaStream_t stream) {
  if (holds_samples() && plan.resident_rows == plan_.resident_rows &&
      plan.batch_rows == plan_.batch_rows) {
    return;
  }
  // The old memory is freed first. If an allocation fails, nothing is held.
  resident_.reset();
  stream_.reset();
  batch_.resize(0);
  std::unique_ptr<ResidentSamples<T>> resident;
  if (plan.resident_rows > 0) {
    lloyd::DatasetView first = dataset_;
    first.samples = plan.resident_rows;
    resident = std::make_unique<ResidentSamples<T>>(first, layout_, stream, row_alignment_);
  }
  if (!plan.is_resident()) {
    const bool on_device = is_on_device(dataset_);
    if (on_device || layout_ == Layout::soa) batch_.resize(plan.batch_rows * dataset_.features);
    if (!on_device) {
      stream_ = std::make_unique<RowStream<T>>(dataset_, plan.resident_rows, plan.batch_rows);
    }
  }
  resident_ = std::move(resident);
  plan_ = plan;
}

template <class T>
void SampleStore<T>::walk(RowRange rows, const std::int32_t* halt,
                          const CancelRequested& cancel_requested, cudaStream_t stream,
                          const Body& body) {
  if (!holds_samples()) {
    throw lloyd::StatusError(lloyd::StatusCode::out_of_memory,
                             "the samples are not on the device, which ran out of memory before");
  }
  const std::int64_t resident_end = std::min(rows.end, plan_.resident_rows);
  if (rows.begin < resident_end) body({rows.begin, resident_end}, resident_->get());
  const RowRange rest{std::max(rows.begin, plan_.resident_rows), rows.end};
  if (rest.begin >= rest.end) return;
  if (is_on_device(dataset_)) return walk_device_batches(rest, cancel_requested, stream, body);
  if (layout_ == Layout::aos) {
    return stream_->walk(rest, halt, cancel_requested, stream, body);
  }
  stream_->walk(
      rest, halt, cancel_requested, stream, [&](RowRange part, const Samples<T>& samples) {
        const std::int64_t d = dataset_.features;
        enqueue_transposition(samples.data, d, part.size(), d, batch_.data(), part.size(), stream);
        body(part, {batch_.data(), part.begin, 1, part.size(), d});
      });
}

// Batches follow one another on the stream, so that one buffer suffices.
template <class T>
void SampleStore<T>::walk_device_batches(RowRange rows, const CancelRequested& cancel_requested,
                                         cudaStream_t stream, const Body& body) {
  const std::int64_t d = dataset_.features;
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += plan_.batch_rows) {
    if (cancel_requested()) return;
    const RowRange part{begin, std::min(begin + plan_.batch_rows, rows.end)};
    const T* const from = static_cast<const T*>(dataset_.data) + begin * dataset_.stride;
    if (layout_ == Layout::aos) {
      enqueue_packing(from, dataset_.stride, part.size(), d, batch_.data(), stream);
      body(part, {batch_.data(), begin, d, 1, d});
    } else {
      enqueue_transposition(from, dataset_.stride, part.size(), d, batch_.data(), part.size(),
                            stream);
      body(part, {batch_.data(), begin, 1, part.size(), d});
    }
  }
}

template class SampleStore<float>;
template class SampleStore<double>;

}  // namespace lloyd_cuda
