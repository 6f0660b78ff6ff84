#include "progress/stage_line.hpp"

#include <string>

#include "output/messages.hpp"

namespace lloyd::apps {

StageLine::~StageLine() {
  clear();
}

void StageLine::clear() {
  if (line_open_) write_message("\r\x1b[K");
  line_open_ = false;
}

void StageLine::show(std::string_view stage) {
  if (!messages_go_to_terminal()) return;
  write_message("\r\x1b[K" + std::string(stage));
  line_open_ = true;
}

void StageLine::update(std::string_view stage, std::int64_t done, std::int64_t total) {
  if (!messages_go_to_terminal()) return;
  const auto text = text_.update(stage, done, total);
  if (done >= total) {  // something else runs next
    clear();
  } else if (text) {
    write_message("\r\x1b[K" + *text);
    line_open_ = true;
  }
}

}  // namespace lloyd::apps
