// Never returns from probe.
#include <unistd.h>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status probe(lloyd::DeviceList*) noexcept {
  while (true) ::pause();
}

LLOYD_EXPORT_BAD_PLUGIN(&probe, &lloyd::bad::create_honest);
