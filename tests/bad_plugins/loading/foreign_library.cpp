// A library that has nothing to do with Lloyd.
#include "bad_plugins/support/loading_mark.hpp"

extern "C" __attribute__((visibility("default"))) int answer() {
  return 42;
}
