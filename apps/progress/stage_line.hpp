// StageLine: shows the current stage of long work on a terminal.
#pragma once

#include <cstdint>
#include <string_view>

#include "progress/stage_text.hpp"

namespace lloyd::apps {

/// Updates one line with the texts of a StageText. Writes nothing unless messages go to a terminal.
class StageLine {
 public:
  StageLine() = default;
  /// Clears the line.
  ~StageLine();
  StageLine(const StageLine&) = delete;
  StageLine& operator=(const StageLine&) = delete;

  /// See StageText::update().
  void update(std::string_view stage, std::int64_t done, std::int64_t total);
  /// Shows a stage whose progress is unknown.
  void show(std::string_view stage);
  /// Clears the line, when no stage runs.
  void clear();

 private:
  StageText text_;
  bool line_open_ = false;
};

}  // namespace lloyd::apps
