// Signal handlers that stop or end the process.
#pragma once

#include <sys/types.h>

#include <lloyd/plugin/abi/backend.hpp>

#include "process/stop_request.hpp"

namespace lloyd::apps {

/// Makes signals that end the process remove temporary files first; excepted are ignored signals,
/// SIGKILL, and faults such as SIGSEGV. Ignores SIGXFSZ, so that writing beyond the file size limit
/// fails with an error. If a mapped file is truncated, or its content crashes the library that
/// reads it (LibraryUse), the process ends with kBadInput and a sentence that names the file; for
/// a library that writes a file, with kFailed.
void install_cleanup_handler();
/// Makes the first SIGINT, SIGTERM or SIGHUP call request_stop(); another one, two seconds later or
/// more, ends the process at once. Signals that are ignored stay ignored (nohup(1), `trap ''` of a
/// shell). File errors: see install_cleanup_handler().
void install_interrupt_handler();
/// Makes SIGTERM from the process `only` call request_stop(); from any other sender it ends this
/// process, as SIGINT does. File errors: see install_cleanup_handler().
void install_interrupt_handler_of(pid_t only);

/// Observer that ignores iterations and stops the fit once interrupted().
class InterruptObserver : public Observer {
 public:
  bool on_iteration(const IterationRecord&) noexcept override { return !interrupted(); }
  bool stop_requested() const noexcept override { return interrupted(); }
};

}  // namespace lloyd::apps
