#include "dataset/source_windows.hpp"

#include <chrono>
#include <utility>

#include <lloyd/plugin/sdk/guard.hpp>

namespace lloyd {

SourceWindows::SourceWindows(RowBlocks& blocks, Reading reading, const RowMapping* mapping,
                             BlockBody before)
    : blocks_(blocks),
      mapping_(mapping),
      before_(std::move(before)),
      row_bytes_(blocks.source().features() * size_of(blocks.source().dtype())),
      samples_(blocks.source().samples()) {
  if (reading == Reading::ahead) reader_.emplace(blocks, RowRange{0, samples_});
}

SourceWindows::~SourceWindows() {
  if (!reader_ && mapping_ != nullptr) mapping_->release(window_);
}

template <class Body>
Status SourceWindows::keep_failure(const Body& body) noexcept {
  return guarded([&] {
    try {
      body();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (failure_ == nullptr) failure_ = std::current_exception();
      throw;
    }
  });
}

const void* SourceWindows::advance() {
  if (!reader_) {
    if (mapping_ != nullptr) mapping_->release(window_);
    window_ = blocks_.first_block({window_.end, samples_});
    if (mapping_ == nullptr) return blocks_.buffer();
    return static_cast<const char*>(mapping_->values()) + window_.begin * row_bytes_;
  }
  const void* values = nullptr;
  window_ = reader_->next(&values);
  if (before_) before_(window_, values);
  return values;
}

Status SourceWindows::next(RowRange* rows, const void** data) noexcept {
  if (window_.end == samples_) {
    return Status::error(StatusCode::invalid_argument, "there is no window after the last one");
  }
  return keep_failure([&] {
    *data = advance();
    *rows = window_;
  });
}

Status SourceWindows::load(RowRange rows) noexcept {
  if (rows.begin < window_.begin || rows.end > window_.end || rows.begin > rows.end) {
    return Status::error(StatusCode::invalid_argument, "the rows are not within the window");
  }
  if (reader_ || rows.size() == 0) return {};
  return keep_failure([&] {
    const auto start = std::chrono::steady_clock::now();
    if (mapping_ != nullptr) {
      mapping_->load(rows);
    } else {
      read_block(blocks_.source(), rows,
                 blocks_.buffer() + (rows.begin - window_.begin) * row_bytes_);
    }
    const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
    loading_ns_.fetch_add(time.count(), std::memory_order_relaxed);
  });
}

void SourceWindows::finish() {
  while (before_ && window_.end < samples_) advance();
}

void SourceWindows::rethrow_failure() const {
  const std::lock_guard lock(mutex_);
  if (failure_ != nullptr) std::rethrow_exception(failure_);
}

bool SourceWindows::was_fast() const {
  // A thread copies 3 to 10 GB/s from memory. A disk that is as fast needs no reading ahead.
  constexpr double kBytesPerMs = 2e6;
  const double bytes = static_cast<double>(window_.end) * static_cast<double>(row_bytes_);
  const double ms = reader_ ? reader_->reading_ms() : static_cast<double>(loading_ns_) / 1e6;
  return bytes >= kBytesPerMs * ms;
}

}  // namespace lloyd
