// The control: a plugin without a defect.
#include "bad_plugins/support/bad_plugin.hpp"
#include "bad_plugins/support/loading_mark.hpp"

LLOYD_EXPORT_MISBEHAVIOUR();
