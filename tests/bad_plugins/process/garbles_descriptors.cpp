// Writes garbage to every open descriptor, including the host's.
#include <unistd.h>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec,
                         lloyd::Observer* observer, lloyd::FitResult& result) {
  constexpr char kGarbage[] = "{\"answer\": \x1b[31m\xff";
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    [[maybe_unused]] const auto written = ::write(descriptor, kGarbage, sizeof(kGarbage));
  }
  return honest.fit(spec, observer, result);
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
