// Prints to standard output in its first fit only.
#include <atomic>
#include <cstdio>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec,
                         lloyd::Observer* observer, lloyd::FitResult& result) {
  static std::atomic<bool> has_printed = false;
  if (!has_printed.exchange(true)) std::printf("tuned for this machine\n");
  return honest.fit(spec, observer, result);
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
