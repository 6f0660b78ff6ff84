#include "process/stop_request.hpp"

#include <atomic>

namespace lloyd::apps {
namespace {

std::atomic<bool> stop_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

void request_stop() noexcept {
  stop_flag = true;
}

bool interrupted() noexcept {
  return stop_flag;
}

}  // namespace lloyd::apps
