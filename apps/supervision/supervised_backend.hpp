// A backend whose calls are marked on a SupervisionBoard, so that a supervisor sees which one does
// not return.
#pragma once

#include <memory>

#include <lloyd/registry.hpp>

#include "process/fork_barrier.hpp"
#include "supervision/supervision_board.hpp"

namespace lloyd::apps {

/// Marks a call as long as it exists, and lets one process come back from it.
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
  ForkBarrier barrier_;  // the last member: it ends first
};

/// The same backend, with every call of it, of its sessions, of their notes and of their seeding
/// kernels marked. `board` must outlive it.
std::unique_ptr<LoadedBackend> mark_calls(std::unique_ptr<LoadedBackend> plugin,
                                          SupervisionBoard& board);

}  // namespace lloyd::apps
