// Ends the process in fit, with status 0 unless the build defines another.
#include <cstdlib>
#include <mutex>

#include "bad_plugins/support/bad_plugin.hpp"

#ifndef LLOYD_EXIT_STATUS
#define LLOYD_EXIT_STATUS 0
#endif

static std::mutex first_thread;  // exit() must not be called twice

static lloyd::Status fit(lloyd::Session&, const lloyd::FitSpec&, lloyd::Observer*,
                         lloyd::FitResult&) {
  first_thread.lock();
  std::exit(LLOYD_EXIT_STATUS);
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
