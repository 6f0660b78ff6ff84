// SessionUse: ensures that one call at a time uses a BackendSession.
#pragma once

#include <lloyd/fit.hpp>

namespace lloyd {

/// Claims a session for the calling thread during the lifetime of this object. Costs one atomic
/// operation.
class SessionUse {
 public:
  enum class Scope {
    call,   ///< one call of the session, during which the thread may not use it otherwise
    calls,  ///< a sequence of calls, each with a SessionUse of its own
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
  bool outermost_;  // whether this object made the claim
};

}  // namespace lloyd
