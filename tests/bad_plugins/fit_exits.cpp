// Ends the process in fit, with success.
#include <cstdlib>

#include "bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session&, const lloyd::FitSpec&, lloyd::Observer*,
                         lloyd::FitResult&) {
  std::exit(0);
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
