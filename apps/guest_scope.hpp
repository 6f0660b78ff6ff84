// GuestScope: the time in which a plugin runs in this process.
#pragma once

#include <lloyd/process_state.hpp>

namespace lloyd::apps {

/// While it lasts, what is written to standard output goes to standard error, so that results are
/// not mixed with what a plugin prints. At its end the process is as it was before: working
/// directory, standard streams, signal handlers and what else ProcessState keeps. Call it on one
/// thread.
class GuestScope {
 public:
  /// Throws Error.
  GuestScope();
  /// Ends the scope unless end() has; what cannot be put back is not reported.
  ~GuestScope();
  GuestScope(const GuestScope&) = delete;
  GuestScope& operator=(const GuestScope&) = delete;

  /// Ends the scope. Throws Error where the process cannot be put back.
  void end();

 private:
  ProcessState before_;
  bool ended_ = false;
};

/// Results were printed and flushed; what could not be written is dropped. What is written to
/// standard output from now on, by a plugin that is released for example, goes to standard error.
void finish_results();

}  // namespace lloyd::apps
