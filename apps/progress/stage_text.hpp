// StageText: describes the current stage, its progress and the time left.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lloyd::apps {

/// Turns reports of progress into texts for a line on a terminal: "seeding 340/1000, about 12 s
/// left", or "checking labels 40 %, about 3 s left" for more than kMaxCounted steps.
class StageText {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::int64_t kMaxCounted = 10'000;
  static constexpr std::chrono::milliseconds kInitialSilence{1000};  ///< of each stage
  static constexpr std::chrono::milliseconds kMinInterval{300};      ///< between two texts

  /// `done` of `total` steps of the stage are complete at time `now`. Another name, or fewer steps
  /// than before, begins a new stage. Returns a text if it is time for one.
  std::optional<std::string> update(std::string_view stage, std::int64_t done, std::int64_t total,
                                    Clock::time_point now = Clock::now());

 private:
  std::string stage_;
  std::int64_t done_ = 0;
  Clock::time_point begun_;
  Clock::time_point next_;
};

}  // namespace lloyd::apps
