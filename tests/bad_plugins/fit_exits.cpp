// Ends the process in fit, with success.
#include <cstdlib>
#include <mutex>

#include "bad_plugin.hpp"

static std::mutex first_thread;  // exit() may be called once only

static lloyd::Status fit(lloyd::Session&, const lloyd::FitSpec&, lloyd::Observer*,
                         lloyd::FitResult&) {
  first_thread.lock();
  std::exit(0);
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
