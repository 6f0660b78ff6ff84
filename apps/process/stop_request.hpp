// The request to stop: a flag that signal handlers set and all work polls.
#pragma once

namespace lloyd::apps {

/// Requests the process to stop its work. Async-signal-safe; cannot be undone.
void request_stop() noexcept;
/// True once a stop was requested. Thread-safe and async-signal-safe.
bool interrupted() noexcept;

}  // namespace lloyd::apps
