// SessionUse: ensures that one call at a time uses a BackendSession.
#pragma once

#include <lloyd/fit.hpp>

namespace lloyd {

/// From construction to destruction, a session is used by one thread. Costs one atomic operation.
class SessionUse {
 public:
  enum class Scope {
    call,   ///< one call of the session, during which the thread may not use it otherwise
    calls,  ///< several calls; the thread creates a SessionUse for each of them
  };

  /// Throws InputError if another thread uses the session, or if the thread is in a call of it:
  /// then a function of the caller, such as an observer, was called back.
  SessionUse(BackendSession& session, Scope scope);
  ~SessionUse();
  SessionUse(const SessionUse&) = delete;
  SessionUse& operator=(const SessionUse&) = delete;

 private:
  BackendSession::User& user_;
  Scope scope_;
  bool outermost_;  // of this thread
};

}  // namespace lloyd
