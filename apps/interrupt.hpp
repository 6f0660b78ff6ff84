// SIGINT as a flag.
#pragma once

#include <lloyd/plugin/backend.hpp>

namespace lloyd::apps {

/// From now on the first SIGINT, SIGTERM or SIGHUP sets a flag; one that comes two seconds later or
/// more ends the process at once. A mapped file that is cut ends it with status 1 and a sentence.
void install_interrupt_handler();
/// Whether the flag is set.
bool interrupted() noexcept;

/// An observer that wants nothing and stops a fit on interruption.
class InterruptObserver : public Observer {
 public:
  bool on_iteration(const IterationRecord&) noexcept override { return !interrupted(); }
  bool stop_requested() const noexcept override { return interrupted(); }
};

}  // namespace lloyd::apps
