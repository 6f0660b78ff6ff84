#include "session/session_use.hpp"

#include <thread>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd {

SessionUse::SessionUse(BackendSession& session, Scope scope) : user_(session.user_), scope_(scope) {
  const std::thread::id self = std::this_thread::get_id();
  std::thread::id user;
  outermost_ = user_.thread.compare_exchange_strong(user, self);
  if (!outermost_ && user != self) {
    throw InputError(
        fmt::format("{}: the session on {} is in use by another thread; a session may be used by "
                    "one thread at a time, so open one session per thread",
                    session.backend().name(), session.dataset().name()));
  }
  if (!outermost_ && user_.in_call) {
    throw InputError(
        fmt::format("{}: the session on {} is in use by the call from which this one is made, for "
                    "example in an observer; open another session for it",
                    session.backend().name(), session.dataset().name()));
  }
  user_.in_call = scope == Scope::call;
}

SessionUse::~SessionUse() {
  if (scope_ == Scope::call) user_.in_call = false;
  if (outermost_) user_.thread.store(std::thread::id());
}

}  // namespace lloyd
