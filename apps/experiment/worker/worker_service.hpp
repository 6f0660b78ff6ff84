// serve_trials: what a worker process does.
#pragma once

namespace lloyd::experiment {

/// Answers the messages that come from `socket`, until nobody sends any more: loads a backend, maps
/// data sets, runs trials and watches fits one by one. Holds no session between them. SIGTERM ends
/// the fit that runs.
void serve_trials(int socket);

}  // namespace lloyd::experiment
