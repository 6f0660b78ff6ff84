// The descriptor is present, but under a name that the loader does not look up.
#include "bad_plugins/support/bad_plugin.hpp"

#define lloyd_plugin lloyd_plugin_of_another_name
LLOYD_EXPORT_MISBEHAVIOUR();
