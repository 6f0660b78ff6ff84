// Ends the process in create.
#include <cstdlib>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status create(lloyd::Backend**) noexcept {
  std::exit(3);
}

LLOYD_EXPORT_BAD_PLUGIN(&lloyd::bad::probe_honest, &create);
