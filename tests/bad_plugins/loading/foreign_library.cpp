// A library that is not a Lloyd plugin.
#include "bad_plugins/support/loading_mark.hpp"

extern "C" __attribute__((visibility("default"))) int answer() {
  return 42;
}
