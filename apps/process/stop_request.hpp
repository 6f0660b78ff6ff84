// Stop request: a flag that signal handlers set and all work polls.
#pragma once

namespace lloyd::apps {

/// Sets the flag for good. Async-signal-safe.
void request_stop() noexcept;
/// True after request_stop(). Thread-safe and async-signal-safe.
bool interrupted() noexcept;

}  // namespace lloyd::apps
