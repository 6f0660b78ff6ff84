// Says ok and makes no backend.
#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status create(lloyd::Backend**) noexcept {
  return {};
}

LLOYD_EXPORT_BAD_PLUGIN(&lloyd::bad::probe_honest, &create);
