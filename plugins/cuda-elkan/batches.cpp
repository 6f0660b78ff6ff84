#include "batches.hpp"

#include <algorithm>
#include <cstring>

namespace lloyd_cuda_elkan {

using lloyd::RowRange;
using lloyd_cuda::check;

template <class T>
Batches<T>::Batches(const lloyd::DatasetView& dataset, std::int64_t rows)
    : dataset_(dataset),
      batch_rows_(rows),
      slots_{Slot(rows * dataset.features), Slot(rows * dataset.features)} {}

template <class T>
void Batches<T>::pack(RowRange rows, T* to) const {
  const std::int64_t d = dataset_.features;
  const T* from = static_cast<const T*>(dataset_.data) + rows.begin * dataset_.stride;
  if (dataset_.stride == d) {
    std::memcpy(to, from, static_cast<std::size_t>(rows.size() * d) * sizeof(T));
    return;
  }
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    std::memcpy(to + i * d, from + i * dataset_.stride, static_cast<std::size_t>(d) * sizeof(T));
  }
}

template <class T>
void Batches<T>::walk(RowRange rows, const std::int32_t* halt,
                      const CancelRequested& cancel_requested, cudaStream_t stream,
                      const Body& body) {
  const auto read_flag = [&](Slot& slot) {
    if (halt == nullptr) return;
    check(cudaMemcpyAsync(slot.halted.data(), halt, sizeof(std::int32_t), cudaMemcpyDeviceToHost,
                          stream),
          "reading a flag");
  };
  // No batches are copied for a pass that was halted before it began.
  for (Slot& slot : slots_) slot.used.synchronize();
  for (Slot& slot : slots_) slot.halted[0] = 0;
  read_flag(slots_[next_]);
  check(cudaStreamSynchronize(stream), "reading a flag");

  for (std::int64_t begin = rows.begin; begin < rows.end; begin += batch_rows_) {
    const RowRange part{begin, std::min(begin + batch_rows_, rows.end)};
    Slot& slot = slots_[next_];
    next_ = 1 - next_;
    slot.used.synchronize();
    if (slot.halted[0] != 0 || cancel_requested()) return;
    const std::int64_t d = dataset_.features;
    pack(part, slot.pinned.data());
    slot.device.upload(slot.pinned.data(), part.size() * d, copies_);
    slot.copied.record(copies_);
    check(cudaStreamWaitEvent(stream, slot.copied, 0), "waiting for a copy");
    body(part, {slot.device.data(), part.begin, d, 1, d});
    read_flag(slot);
    slot.used.record(stream);
  }
}

template class Batches<float>;
template class Batches<double>;

}  // namespace lloyd_cuda_elkan
