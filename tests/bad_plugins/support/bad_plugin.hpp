// Building blocks of the bad plugins: a correct backend, and ways to break it.
#pragma once

#include <lloyd/plugin/abi/abi.hpp>
#include <lloyd/plugin/sdk/guard.hpp>

#include "bad_plugins/support/misbehaving.hpp"

namespace lloyd::bad {

/// A backend that passes the conformance suite. Compiled once, in honest.cpp.
Backend* make_honest();
Status create_honest(Backend** backend) noexcept;
Status probe_honest(DeviceList* devices) noexcept;

}  // namespace lloyd::bad

/// Exports a plugin with the given probe and create functions.
#define LLOYD_EXPORT_BAD_PLUGIN(PROBE, CREATE)                                           \
  extern "C" __attribute__((visibility("default"), used, section(LLOYD_PLUGIN_SECTION))) \
  const ::lloyd::PluginDescriptor lloyd_plugin = {                                       \
      ::lloyd::make_plugin_header(LLOYD_PLUGIN_NAME, LLOYD_PLUGIN_VERSION), PROBE, CREATE}

/// Exports the correct backend wrapped in a Misbehaviour, given as designated initializers.
#define LLOYD_EXPORT_MISBEHAVIOUR(...)                                                             \
  static ::lloyd::Status create_bad_plugin(::lloyd::Backend** backend) noexcept {                  \
    return ::lloyd::guarded([&] {                                                                  \
      *backend = new ::lloyd::bad::MisbehavingBackend({__VA_ARGS__}, ::lloyd::bad::make_honest()); \
    });                                                                                            \
  }                                                                                                \
  LLOYD_EXPORT_BAD_PLUGIN(&::lloyd::bad::probe_honest, &create_bad_plugin)
