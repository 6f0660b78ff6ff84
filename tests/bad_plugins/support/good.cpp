// The control: nothing is wrong with this one.
#include "bad_plugins/support/bad_plugin.hpp"
#include "bad_plugins/support/loading_mark.hpp"

LLOYD_EXPORT_MISBEHAVIOUR();
