// Ends the process by the default action of a signal.
#pragma once

namespace lloyd::apps {

/// Ends this process by the default action of `signal`, even if it is blocked, as in its own
/// handler. Process 1 of a container, which cannot end itself by a signal, exits with status 128 +
/// signal. Async-signal-safe.
[[noreturn]] void end_by_signal(int signal) noexcept;

}  // namespace lloyd::apps
