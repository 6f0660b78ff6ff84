// How a command ends: a status, and one sentence where it failed.
#pragma once

#include <functional>

namespace lloyd::apps {

/// Runs a command, or the part of it that delivers, and flushes standard output. Returns the
/// ExitStatus that `body` returns or that belongs to what it throws, which report_failure() says.
/// SupervisedEnd is a status too.
int run_to_status(const std::function<int()>& body);

/// As run_to_status(), and reports the end to a supervisor, see report_end(). What follows, such as
/// the release of a plugin's objects, can lose neither results nor sentence.
int run_to_end(const std::function<int()>& body);

}  // namespace lloyd::apps
