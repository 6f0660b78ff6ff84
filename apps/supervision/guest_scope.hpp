// GuestScope: restores the state of this process after a plugin has run in it.
#pragma once

#include <lloyd/process_state.hpp>

namespace lloyd::apps {

/// Restores the working directory, standard streams, signal handlers and everything else that
/// ProcessState keeps. Output of the plugin goes to standard error, see keep_results_apart().
/// Construct and end it on the same thread.
class GuestScope {
 public:
  /// Throws Error.
  GuestScope() = default;
  /// Restores the state unless end() has; failures are ignored.
  ~GuestScope();
  GuestScope(const GuestScope&) = delete;
  GuestScope& operator=(const GuestScope&) = delete;

  /// Restores the state. Throws Error on failure.
  void end();

 private:
  ProcessState before_;
  bool ended_ = false;
};

}  // namespace lloyd::apps
