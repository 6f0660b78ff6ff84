// Throws in create, through the guard.
#include <stdexcept>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status create(lloyd::Backend**) noexcept {
  return lloyd::guarded([] { throw std::runtime_error("no license was found"); });
}

LLOYD_EXPORT_BAD_PLUGIN(&lloyd::bad::probe_honest, &create);
