// ForkBarrier: ends a process that a plugin forked and let return from a call.
#pragma once

#include <unistd.h>

namespace lloyd::apps {

/// Surrounds a call into a plugin. If a plugin forks and exec() fails, the call may return in both
/// processes. The forked one is ended here; otherwise it would continue the command and deliver the
/// results twice.
class ForkBarrier {
 public:
  ForkBarrier() = default;
  ~ForkBarrier() { check(); }
  ForkBarrier(const ForkBarrier&) = delete;
  ForkBarrier& operator=(const ForkBarrier&) = delete;

  /// Ends the process if it is not the one that made this object.
  void check() const {
    if (::getpid() != process_) ::_exit(1);
  }

 private:
  pid_t process_ = ::getpid();
};

}  // namespace lloyd::apps
