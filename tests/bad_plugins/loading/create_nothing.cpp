// Returns ok from create without a backend.
#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status create(lloyd::Backend**) noexcept {
  return {};
}

LLOYD_EXPORT_BAD_PLUGIN(&lloyd::bad::probe_honest, &create);
