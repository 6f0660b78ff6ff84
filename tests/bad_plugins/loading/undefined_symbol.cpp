// Calls a function that no library defines. It is linked so that only the first call would fail.
#include "bad_plugins/support/bad_plugin.hpp"

extern "C" void lloyd_function_that_is_nowhere();

static lloyd::Status create(lloyd::Backend** backend) noexcept {
  lloyd_function_that_is_nowhere();
  return lloyd::bad::create_honest(backend);
}

LLOYD_EXPORT_BAD_PLUGIN(&lloyd::bad::probe_honest, &create);
