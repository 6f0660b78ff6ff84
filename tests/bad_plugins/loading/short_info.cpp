// Its info struct is shorter than in any version of the boundary.
#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status create(lloyd::Backend** backend) noexcept {
  return lloyd::guarded([&] {
    lloyd::Backend* const honest = lloyd::bad::make_honest();
    lloyd::BackendInfo info = *honest->info();
    info.struct_size = 40;
    *backend = new lloyd::bad::MisbehavingBackend({}, honest, info);
  });
}

LLOYD_EXPORT_BAD_PLUGIN(&lloyd::bad::probe_honest, &create);
