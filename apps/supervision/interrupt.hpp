// Handlers of the signals that stop or end the process.
#pragma once

#include <sys/types.h>

#include <lloyd/plugin/abi/backend.hpp>

#include "process/stop_request.hpp"

namespace lloyd::apps {

/// From now on a signal that ends the process, unless it is ignored, SIGKILL, or the sign of a
/// fault such as SIGSEGV, removes temporary files first. A file that may grow no more is an error.
/// A mapped file that is cut, and one whose bytes crash the library that reads it (LibraryRead),
/// end the process with kBadInput and a sentence that names the file.
void install_cleanup_handler();
/// From now on the first SIGINT, SIGTERM or SIGHUP calls request_stop(); one that comes two seconds
/// later or more ends the process at once. A signal that is ignored stays so, as nohup(1) and
/// `trap ''` of a shell leave it. The rest is as above.
void install_interrupt_handler();
/// From now on SIGTERM calls request_stop() if the process `only` has sent it: from any other
/// sender it ends this process, as SIGINT does. Files that end the process: as above.
void install_interrupt_handler_of(pid_t only);

/// An observer that wants nothing and stops a fit on interruption.
class InterruptObserver : public Observer {
 public:
  bool on_iteration(const IterationRecord&) noexcept override { return !interrupted(); }
  bool stop_requested() const noexcept override { return interrupted(); }
};

}  // namespace lloyd::apps
