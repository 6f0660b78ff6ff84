// Plugins that the loader must refuse by their files alone. None may be loaded; the loading mark
// would show it.
#include "bad_plugins/support/bad_plugin.hpp"
#include "bad_plugins/support/loading_mark.hpp"

namespace {

constexpr lloyd::PluginHeader bad_header() {
  lloyd::PluginHeader header = lloyd::make_plugin_header(LLOYD_PLUGIN_NAME, LLOYD_PLUGIN_VERSION);
#if defined(LLOYD_WRONG_MAGIC)
  header.magic[0] = 'X';
#elif defined(LLOYD_OTHER_ABI_MAJOR)
  ++header.abi_major;
#elif defined(LLOYD_NEWER_ABI_MINOR)
  ++header.abi_minor;
#elif defined(LLOYD_OTHER_TAG)
  header.abi_tag[0] = 'X';
#endif
  return header;
}

}  // namespace

#if defined(LLOYD_NO_SECTION)
#define LLOYD_PLACE
#else
#define LLOYD_PLACE , section(LLOYD_PLUGIN_SECTION)
#endif
extern "C" __attribute__((visibility("default"), used LLOYD_PLACE))
const lloyd::PluginDescriptor lloyd_plugin = {bad_header(), &lloyd::bad::probe_honest,
                                              &lloyd::bad::create_honest};
