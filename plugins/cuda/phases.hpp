// Times of the phases of an iteration, measured in the stream.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <vector>

#include "cuda/stream.hpp"

namespace lloyd_cuda {

/// What a moment of an iteration begins.
enum class Phase { assignment, update, convergence, none };

/// Marks where phases begin, and adds up how long they took.
class Phases {
 public:
  /// From here on, the stream's work belongs to `phase`.
  void begin(Phase phase, cudaStream_t stream) {
    if (used_ == marks_.size()) marks_.emplace_back();
    Mark& mark = marks_[used_++];
    mark.phase = phase;
    mark.event.record(stream);
  }

  /// Adds up what was marked since the last call; the stream has reached the last mark.
  void collect() {
    if (used_ > 0) marks_[used_ - 1].event.synchronize();
    for (std::size_t i = 0; i + 1 < used_; ++i) {
      if (marks_[i].phase == Phase::none) continue;
      milliseconds_[static_cast<std::size_t>(marks_[i].phase)] +=
          marks_[i + 1].event.milliseconds_since(marks_[i].event);
    }
    used_ = 0;
  }

  /// Adds what the host measured itself.
  void add(Phase phase, double milliseconds) {
    milliseconds_[static_cast<std::size_t>(phase)] += milliseconds;
  }

  /// The sum so far.
  double milliseconds(Phase phase) const { return milliseconds_[static_cast<std::size_t>(phase)]; }

 private:
  struct Mark {
    Event event;
    Phase phase = Phase::none;
  };
  std::vector<Mark> marks_;  // kept for the next iteration
  std::size_t used_ = 0;
  std::array<double, 3> milliseconds_{};
};

}  // namespace lloyd_cuda
