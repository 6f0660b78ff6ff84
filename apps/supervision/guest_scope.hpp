// GuestScope: the time in which a plugin runs in this process.
#pragma once

#include <lloyd/process_state.hpp>

namespace lloyd::apps {

/// At its end the process is as it was before: working directory, standard streams, signal handlers
/// and what else ProcessState keeps. What the plugin prints in between goes to standard error, see
/// keep_results_apart(). Call it on one thread.
class GuestScope {
 public:
  /// Throws Error.
  GuestScope() = default;
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

}  // namespace lloyd::apps
