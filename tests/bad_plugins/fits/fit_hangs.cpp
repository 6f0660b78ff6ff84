// Never returns from fit.
#include <unistd.h>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session&, const lloyd::FitSpec&, lloyd::Observer*,
                         lloyd::FitResult&) {
  while (true) ::pause();
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
