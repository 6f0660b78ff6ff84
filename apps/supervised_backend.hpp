// A backend whose calls are marked on a SupervisionBoard, so that a supervisor sees which one does
// not return.
#pragma once

#include <memory>

#include <lloyd/registry.hpp>

#include "supervision_board.hpp"

namespace lloyd::apps {

/// Marks a call as long as it exists.
class MarkedCall {
 public:
  MarkedCall(SupervisionBoard& board, PluginCall call) noexcept
      : board_(board), former_(board.mark(call)) {}
  ~MarkedCall() { board_.mark(former_); }
  MarkedCall(const MarkedCall&) = delete;
  MarkedCall& operator=(const MarkedCall&) = delete;

 private:
  SupervisionBoard& board_;
  PluginCall former_;
};

/// The same backend, with every call of it, of its sessions, of their notes and of their seeding
/// kernels marked. `board` must outlive it.
std::unique_ptr<LoadedBackend> mark_calls(std::unique_ptr<LoadedBackend> plugin,
                                          SupervisionBoard& board);

}  // namespace lloyd::apps
