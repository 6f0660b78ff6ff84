// A backend whose calls are marked on a SupervisionBoard, so that the supervisor knows which call
// is running.
#pragma once

#include <filesystem>
#include <memory>

#include <lloyd/registry.hpp>

#include "process/fork_barrier.hpp"
#include "supervision/supervision_board.hpp"

namespace lloyd::apps {

/// Marks a call for its lifetime, and is a ForkBarrier around it.
class MarkedCall {
 public:
  MarkedCall(SupervisionBoard& board, PluginCall call) noexcept
      : board_(board), former_(board.begin(call)) {}
  ~MarkedCall() {
    barrier_.check();  // first: a forked copy must not change the board, which it shares
    board_.end(former_);
  }
  MarkedCall(const MarkedCall&) = delete;
  MarkedCall& operator=(const MarkedCall&) = delete;

 private:
  SupervisionBoard& board_;
  PluginCall former_;
  ForkBarrier barrier_;
};

/// Wraps a backend so that all calls into it are marked: those of the backend, its sessions, and
/// their notes, caches, seeding kernels and passes. `board` must outlive it.
std::unique_ptr<LoadedBackend> mark_calls(std::unique_ptr<LoadedBackend> plugin,
                                          SupervisionBoard& board);

/// As load_plugin(), with a mark for each part of the plugin that runs while it is loaded, then
/// mark_calls().
std::unique_ptr<LoadedBackend> load_marked(const std::filesystem::path& file,
                                           SupervisionBoard& board);

}  // namespace lloyd::apps
