// PhaseTimer: times the phases of an iteration with events in the stream.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <vector>

#include "cuda/device/stream.hpp"

namespace lloyd_cuda {

/// The phase that begins at a mark.
enum class Phase { assignment, update, convergence, none };

/// Marks the beginnings of phases in the stream, and sums the time of each.
class PhaseTimer {
 public:
  /// Begins `phase`: work enqueued from here on belongs to it.
  void begin(Phase phase, cudaStream_t stream) {
    if (used_ == marks_.size()) marks_.emplace_back();
    Mark& mark = marks_[used_++];
    mark.phase = phase;
    mark.event.record(stream);
  }

  /// Adds the times since the last call; the stream must have reached the last mark.
  void collect() {
    if (used_ > 0) marks_[used_ - 1].event.synchronize();
    for (std::size_t i = 0; i + 1 < used_; ++i) {
      if (marks_[i].phase == Phase::none) continue;
      milliseconds_[static_cast<std::size_t>(marks_[i].phase)] +=
          marks_[i + 1].event.milliseconds_since(marks_[i].event);
    }
    used_ = 0;
  }

  /// Adds a time that the host measured.
  void add(Phase phase, double milliseconds) {
    milliseconds_[static_cast<std::size_t>(phase)] += milliseconds;
  }

  /// The total time of a phase in milliseconds.
  double milliseconds(Phase phase) const { return milliseconds_[static_cast<std::size_t>(phase)]; }

 private:
  struct Mark {
    Event event;
    Phase phase = Phase::none;
  };
  std::vector<Mark> marks_;  // events are reused by the next iteration
  std::size_t used_ = 0;
  std::array<double, 3> milliseconds_{};
};

}  // namespace lloyd_cuda
