// Signs of memory errors in the failures of a plugin.
#pragma once

#include <string_view>

namespace lloyd::apps {

/// True if the message of a failed case suggests that the plugin accessed memory out of bounds or
/// corrupted its heap: a segmentation fault, a complaint of the C library about its heap, or a
/// write beside an output array. False for a sanitizer's report, which says more.
bool suggests_memory_error(std::string_view message);

}  // namespace lloyd::apps
