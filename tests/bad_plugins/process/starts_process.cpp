// Starts a process in fit that outlives it, and waits forever.
#include <unistd.h>

#include <cstdio>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session&, const lloyd::FitSpec&, lloyd::Observer*,
                         lloyd::FitResult&) {
  std::printf("another process\nis \x1b[1mstarted\n");
  ::fork();
  while (true) ::pause();
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
