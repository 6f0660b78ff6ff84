// Prints to standard output, which belongs to the program's results.
#include <cstdio>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec,
                         lloyd::Observer* observer, lloyd::FitResult& result) {
  std::printf("{\"iterations\": NaN");
  return honest.fit(spec, observer, result);
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
