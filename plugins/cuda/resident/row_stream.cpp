#include "cuda/resident/row_stream.hpp"

#include <algorithm>
#include <cstring>

#include <lloyd/plugin/sdk/machine/usable_processors.hpp>
#include <lloyd/plugin/sdk/thread_team.hpp>

namespace lloyd_cuda {

using lloyd::RowRange;

namespace {

// A few threads saturate the bus.
constexpr int kMaxPackingThreads = 8;
// Bytes that a thread copies at a time.
constexpr std::int64_t kPackingBytes = std::int64_t{1} << 20;

template <class T>
const T* row_of(const lloyd::DatasetView& dataset, std::int64_t row) {
  return static_cast<const T*>(dataset.data) + row * dataset.stride;
}

// Bytes from row `first` to the end of the last row.
std::size_t bytes_from(const lloyd::DatasetView& dataset, std::int64_t first) {
  if (first >= dataset.samples) return 0;
  const std::int64_t values = (dataset.samples - 1 - first) * dataset.stride + dataset.features;
  return static_cast<std::size_t>(values * lloyd::size_of(dataset.dtype));
}

}  // namespace

template <class T>
RowStream<T>::RowStream(const lloyd::DatasetView& dataset, std::int64_t first_row,
                        std::int64_t batch_rows)
    : dataset_(dataset),
      batch_rows_(batch_rows),
      registration_(row_of<T>(dataset, first_row), bytes_from(dataset, first_row)),
      slots_{Slot(batch_rows * dataset.features), Slot(batch_rows * dataset.features)} {
  if (registration_.is_locked()) return;
  for (Slot& slot : slots_) slot.staging = PinnedBuffer<T>(batch_rows * dataset.features);
  team_ =
      std::make_unique<lloyd::ThreadTeam>(std::min(lloyd::usable_processors(), kMaxPackingThreads));
}

template <class T>
RowStream<T>::~RowStream() = default;

template <class T>
void RowStream<T>::walk(RowRange rows, const std::int32_t* halt,
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
    enqueue_copy(part, slot);
    slot.copied.record(copies_);
    check(cudaStreamWaitEvent(stream, slot.copied, 0), "waiting for a copy");
    const std::int64_t d = dataset_.features;
    body(part, {slot.device.data(), part.begin, d, 1, d});
    read_flag(slot);
    slot.used.record(stream);
  }
}

// Copies a batch to the device, without gaps between rows.
template <class T>
void RowStream<T>::enqueue_copy(RowRange rows, Slot& slot) {
  const std::int64_t d = dataset_.features;
  if (!registration_.is_locked()) {
    pack(rows, slot.staging.data());
    slot.device.upload(slot.staging.data(), rows.size() * d, copies_);
    return;
  }
  const T* const from = row_of<T>(dataset_, rows.begin);
  if (dataset_.stride == d) {
    slot.device.upload(from, rows.size() * d, copies_);
    return;
  }
  const auto packed = static_cast<std::size_t>(d) * sizeof(T);
  check(cudaMemcpy2DAsync(slot.device.data(), packed, from,
                          static_cast<std::size_t>(dataset_.stride) * sizeof(T), packed,
                          static_cast<std::size_t>(rows.size()), cudaMemcpyHostToDevice, copies_),
        "copying the samples");
}

template <class T>
void RowStream<T>::pack(RowRange rows, T* to) {
  const std::int64_t d = dataset_.features;
  const std::int64_t row_bytes = d * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t together = std::max<std::int64_t>(kPackingBytes / row_bytes, 1);
  team_->for_each(
      team_->threads(), (rows.size() + together - 1) / together, [&](int, std::int64_t piece) {
        const std::int64_t begin = rows.begin + piece * together;
        const std::int64_t end = std::min(begin + together, rows.end);
        T* next = to + piece * together * d;
        if (dataset_.stride == d) {
          std::memcpy(next, row_of<T>(dataset_, begin),
                      static_cast<std::size_t>((end - begin) * row_bytes));
          return;
        }
        for (std::int64_t i = begin; i < end; ++i, next += d) {
          std::memcpy(next, row_of<T>(dataset_, i), static_cast<std::size_t>(row_bytes));
        }
      });
}

template class RowStream<float>;
template class RowStream<double>;

}  // namespace lloyd_cuda
