// Ends the process as a signal does that nobody handles.
#pragma once

namespace lloyd::apps {

/// Ends this process by `signal` with its default action, also where it is blocked, as it is in its
/// own handler. Process 1 of a container, which no signal of its own ends, exits with status
/// 128 + signal. Safe in a signal handler.
[[noreturn]] void end_by_signal(int signal) noexcept;

}  // namespace lloyd::apps
