// StageText: says what runs, how far it is and how long it will take.
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
  static constexpr std::chrono::milliseconds kSilence{1000};  ///< at the beginning of a stage
  static constexpr std::chrono::milliseconds kApart{300};     ///< between two texts

  /// Of `total` steps of the stage, `done` are complete at the time `now`. Another name, or fewer
  /// steps than before, begin a new stage. Returns a text if it is time for one.
  std::optional<std::string> update(std::string_view stage, std::int64_t done, std::int64_t total,
                                    Clock::time_point now = Clock::now());

 private:
  std::string stage_;
  std::int64_t done_ = 0;
  Clock::time_point begun_;
  Clock::time_point next_;
};

}  // namespace lloyd::apps
