// WindowReader: during a pass of LloydLoop, reads the windows of data that is not in memory.
#pragma once

#include <cstdint>
#include <string>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/status.hpp>
#include <lloyd/plugin/abi/types.hpp>
#include <lloyd/plugin/abi/windowed_passes.hpp>

namespace lloyd::detail {

/// Reads the windows of one pass. T: of the samples, float or double.
template <class T>
class WindowReader {
 public:
  WindowReader() = default;
  /// `windows`: null if the samples are in memory.
  explicit WindowReader(RowWindows* windows) : windows_(windows) {}

  /// Calls body(rows) for all windows in order, and before each call sets dataset.data to the
  /// address that row 0 would have if all rows were in memory. Throws StatusError.
  template <class Body>
  void for_each(DatasetView& dataset, const Body& body) const {
    if (windows_ == nullptr) {
      throw StatusError(StatusCode::invalid_argument, "there are no windows of rows");
    }
    for (RowRange window; window.end < dataset.samples;) {
      window = next(dataset, window.end);
      body(window);
    }
  }

  /// Makes the rows of a block of the current window readable. Throws StatusError.
  void load(RowRange block) const {
    if (windows_ == nullptr || block.size() == 0) return;
    const Status status = windows_->load(block);
    if (!status.ok()) throw StatusError(status);
  }

 private:
  // Moves to the window that begins at row `begin`.
  RowRange next(DatasetView& dataset, std::int64_t begin) const {
    RowRange window;
    const void* data = nullptr;
    const Status status = windows_->next(&window, &data);
    if (!status.ok()) throw StatusError(status);
    if (window.begin != begin || window.end <= begin || window.end > dataset.samples) {
      throw StatusError(StatusCode::invalid_argument,
                        "a window has the rows [" + std::to_string(window.begin) + ", " +
                            std::to_string(window.end) + "), but those before it end at " +
                            std::to_string(begin) + " of " + std::to_string(dataset.samples));
    }
    // The address of row 0 may be outside of any array, so it is computed as an integer.
    const std::int64_t offset = begin * dataset.stride * static_cast<std::int64_t>(sizeof(T));
    const auto first = reinterpret_cast<std::uintptr_t>(data) - static_cast<std::uintptr_t>(offset);
    dataset.data = reinterpret_cast<const void*>(first);  // NOLINT(performance-no-int-to-ptr)
    return window;
  }

  RowWindows* windows_ = nullptr;
};

}  // namespace lloyd::detail
