// serve_trials: the main loop of a worker process.
#pragma once

namespace lloyd::experiment {

/// Answers messages from `socket` until the peer closes it: loads a backend, maps data sets, and
/// runs trials and traces one at a time. Releases each session before the next message. SIGTERM
/// cancels the running fit.
void serve_trials(int socket);

}  // namespace lloyd::experiment
