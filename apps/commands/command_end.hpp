// End of a command: an exit status, and one sentence on failure.
#pragma once

#include <functional>

namespace lloyd::apps {

/// Runs a command, or its delivering part, and flushes standard output. Returns the ExitStatus that
/// `body` returns; maps an exception to its status and reports it by report_failure().
/// SupervisedEnd carries its own status.
int run_to_status(const std::function<int()>& body);

/// Like run_to_status(), then calls report_end(): a crash after this, such as in the release of a
/// plugin's objects, loses neither the results nor the sentence.
int run_to_end(const std::function<int()>& body);

}  // namespace lloyd::apps
