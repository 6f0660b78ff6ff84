// Ends the process in a static constructor.
#include <cstdlib>

#include "bad_plugins/support/bad_plugin.hpp"

[[maybe_unused]] static const bool kNever = [] {
  std::abort();
  return true;
}();

LLOYD_EXPORT_MISBEHAVIOUR();
