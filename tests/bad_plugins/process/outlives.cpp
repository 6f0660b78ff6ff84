// Hangs in fit, after making sure that a signal does not end it: it blocks all signals, ignores
// them, or starts a process that has left its session, its parent and its group.
#include <signal.h>
#include <unistd.h>

#include "bad_plugins/support/bad_plugin.hpp"

namespace {

[[maybe_unused]] void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

[[maybe_unused]] void ignore_signals() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_IGN);
}

[[maybe_unused]] void start_daemon() {
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  ignore_signals();
  while (true) ::pause();
}

lloyd::Status fit(lloyd::Session&, const lloyd::FitSpec&, lloyd::Observer*, lloyd::FitResult&) {
#if defined(LLOYD_BLOCKS_SIGNALS)
  block_signals();
#elif defined(LLOYD_IGNORES_SIGNALS)
  ignore_signals();
#else
  start_daemon();
#endif
  while (true) ::pause();
}

}  // namespace

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
