// The control: nothing is wrong with this one.
#include "bad_plugin.hpp"
#include "loading_mark.hpp"

LLOYD_EXPORT_MISBEHAVIOUR();
