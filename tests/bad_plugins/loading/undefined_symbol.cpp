// Calls a function that no library has. It is linked so that the first call would show it.
#include "bad_plugins/support/bad_plugin.hpp"

extern "C" void lloyd_function_that_is_nowhere();

static lloyd::Status create(lloyd::Backend** backend) noexcept {
  lloyd_function_that_is_nowhere();
  return lloyd::bad::create_honest(backend);
}

LLOYD_EXPORT_BAD_PLUGIN(&lloyd::bad::probe_honest, &create);
