// The descriptor is there, under a name that nobody asks for.
#include "bad_plugins/support/bad_plugin.hpp"

#define lloyd_plugin lloyd_plugin_of_another_name
LLOYD_EXPORT_MISBEHAVIOUR();
